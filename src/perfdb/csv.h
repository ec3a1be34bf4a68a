// SPDX-License-Identifier: Apache-2.0
// One's own measurements as CSV (docs/formats/perfdb.md). The header names the columns:
// op, system, framework, version, [kernel,] the operator's keys and axes from perfdb/ops.json, and
// latency_ms. Lines of several operators may stand in one file; cells of foreign columns are empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perfdb/slice.h"
#include "setpoint/result.h"

namespace setpoint::perfdb {

struct RejectedLine {
  std::int64_t line;  // from 1, the header is 1
  std::string reason;
};

// The lines of one (op, system, framework, version): one source of the database.
struct CsvSource {
  std::string op;
  Provenance provenance;  // snapshot and file are left to the importer
  std::vector<Slice> slices;
  std::int64_t rows_read = 0, rows_kept = 0, duplicates = 0;
};

struct Csv {
  std::vector<CsvSource> sources;      // in order of first appearance
  std::vector<RejectedLine> rejected;  // every bad line
  std::int64_t rows_read = 0, rows_kept = 0, duplicates = 0;
};

// Pure; any text is safe. An error only when nothing can be read at all: no header, an unknown or
// missing column, or a slice whose points share no grid. Bad lines are counted and named, never
// loaded: wrong number of cells, unknown operator, system or framework, a key left empty, a
// coordinate that is no whole number, a latency that is NaN, negative or (where ops.json does not
// allow it) zero.
Result<Csv> parse_csv(std::string_view text);

}  // namespace setpoint::perfdb
