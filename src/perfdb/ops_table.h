// SPDX-License-Identifier: Apache-2.0
// perfdb/ops.json as the C++ side needs it: how rows of a family become slices. What concerns the
// public files alone (column names, filters) is read by perfdb/convert.py only.
#pragma once

#include <string_view>
#include <vector>

#include "perfdb/store.h"

namespace setpoint::perfdb {

struct OpRow {
  OpShape shape;
  bool has_kernel = true;     // rows name the kernel that was measured
  bool zero_allowed = false;  // a latency of 0 is a measurement (differences clamped at 0)
  bool last_wins = false;     // of rows with the same full key; else the first
  bool mha_key = false;       // key kv_heads is 0 where it equals axis heads
};

// The embedded table, parsed once. It is part of the program: a fault in it ends the process.
const std::vector<OpRow>& op_table();
Result<const OpRow*> find_op(std::string_view op);  // unknown: names the nearest

// Measured points of one slice -> a dense grid. `points` holds, row by row, the coordinates of all
// axes from outermost to innermost; none may repeat. An absurdly sparse grid is an error.
struct Points {
  std::vector<std::int64_t> coordinates;
  std::vector<float> latency_ms;
};
Result<Slice> build_slice(const OpShape& shape, const Points& points);

}  // namespace setpoint::perfdb
