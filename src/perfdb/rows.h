// SPDX-License-Identifier: Apache-2.0
// Slices back to rows, for people: the columns are those of a CSV import.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "perfdb/store.h"

namespace setpoint::perfdb {

struct RowFilter {
  std::string system;                                      // needed
  std::string framework, version;                          // empty = any
  std::vector<std::pair<std::string, std::string>> where;  // column = value, all must hold
};

struct RowTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // at most as many as asked for
  std::size_t matching = 0;                    // all that the filter lets through
};

// Measured points only. An unknown operator, system or column names the nearest.
Result<RowTable> rows_of(const Store& store, std::string_view op, const RowFilter& filter,
                         std::size_t most);

}  // namespace setpoint::perfdb
