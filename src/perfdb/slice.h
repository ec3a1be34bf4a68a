// SPDX-License-Identifier: Apache-2.0
// A slice is what the database stores: the points of one table that share all exact keys, as a
// dense grid. Axes run from outermost to innermost. Most axes have one column; a *site* axis lists
// scattered tuples (GEMM: n,k; MoE: topk, experts, hidden, inter, tp, ep), in first-seen order.
// Written to SQLite as two BLOBs: docs/formats/perfdb.md.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace setpoint::perfdb {

struct Axis {
  std::vector<std::string> columns;       // one, or several for a site axis
  std::vector<std::int64_t> coordinates;  // size() x columns.size(), row by row
  std::size_t size() const { return columns.empty() ? 0 : coordinates.size() / columns.size(); }
  bool is_site() const { return columns.size() > 1; }
};

// Which file a slice came from. Public tables: the snapshot is the package and its release.
struct Provenance {
  std::string snapshot;                    // "aiconfigurator-core 0.12.0", "csv <name>"
  std::string system, framework, version;  // framework "nccl"/"oneccl" for collective libraries
  std::string file;
};

struct Slice {
  std::string op;      // family, a row of perfdb/ops.json
  std::string kernel;  // kernel_source; "" where the table has none
  std::vector<std::pair<std::string, std::string>> keys;  // exact keys in ops.json order
  std::vector<Axis> axes;
  std::vector<float> latency_ms;  // product of axis sizes, innermost fastest; NaN = not measured
  Provenance provenance;
};

}  // namespace setpoint::perfdb
