// SPDX-License-Identifier: Apache-2.0
// A table of text columns that always fits the screen: units stand under the names, numbers to the
// right, and columns that matter less go first when there is no room.
#pragma once

#include <string>
#include <vector>

#include "report/screen.h"

namespace setpoint::report {

struct Column {
  std::string head, unit;
  std::vector<std::string> cells;  // the same number in every column
  int dispensable = 0;             // 0: always shown; else the highest goes first
  bool left = false;               // text to the left
};

// Every row on one line; `emphasised` is printed bold (-1: none).
std::string table(const Screen& screen, std::vector<Column> columns, int emphasised = -1);

}  // namespace setpoint::report
