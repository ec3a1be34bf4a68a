// SPDX-License-Identifier: Apache-2.0
// Is a database whole, and how good are its tables: gaps, and cells where more work took less time.
#pragma once

#include <string>
#include <vector>

#include "perfdb/store.h"

namespace setpoint::perfdb {

struct TableHealth {
  SourceInfo source;
  std::int64_t slices = 0;
  std::int64_t cells = 0;     // of the dense grids
  std::int64_t measured = 0;  // the rest are gaps
  // Steps along the innermost axis between neighbouring measured cells, and those on which latency
  // fell by more than kFall.
  std::int64_t steps = 0, falls = 0;
};

// Below this a fall is the noise of a benchmark: repeated rows of the public tables differ by 2-3 %
// in the median (their own reuse notes compare 1.3.0rc23 with rc20).
inline constexpr double kFall = 0.03;

struct Verified {
  std::vector<TableHealth> tables;
  std::vector<std::string> faults;  // damaged pages or grids, rows missing; empty = whole
};

Result<Verified> verify(const Store& store);

}  // namespace setpoint::perfdb
