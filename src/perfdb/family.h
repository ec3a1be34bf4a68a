// SPDX-License-Identifier: Apache-2.0
// How each family of tables is read: one row of data per family, no code. The rules' names are
// explained in line.h; the figures that chose them stand in docs/accuracy.md.
#pragma once

#include <array>
#include <string_view>

#include "ops/op.h"
#include "perfdb/answer.h"
#include "perfdb/grid.h"

namespace setpoint::perfdb {

// What of a Point drives the axes that remain after binding (outer, inner).
enum class Drive : std::uint8_t {
  tokens,  // inner = tokens x scale
  batch,   // inner = batch
  prompt,  // outer = seq + prefix, inner = batch
  decode,  // outer = batch, inner = seq
};

struct Family {
  std::string_view op{};
  Drive drive = Drive::tokens;
  LineRule fixed{};  // along the axis that binding removes (heads, ranks); unused by site tables
  std::array<AxisRule, 2> axes{};  // outer, inner; families with one axis use the second
  double floor_percentile = 0;     // of the table's times, 0 = its minimum
  double floor_share = 1;          // of that time is the floor
  bool at_least_roofline = false;  // rows below the roofline are raised to it (rival's load rule)
  // Expected relative error by Source: measured (assumed), interpolated, extrapolated, borrowed (as
  // tools/leftout.cc found them).
  std::array<double, 4> sigma{};
};

// The row of an operator's family; operators without tables have none.
const Family* find_family(std::string_view op);

// The point that a family's coordinates stand for (tokens are coordinate / scale).
ops::Point point_of(Drive drive, double outer, double inner, double scale);

}  // namespace setpoint::perfdb
