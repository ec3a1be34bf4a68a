// SPDX-License-Identifier: Apache-2.0
#include "perfdb/grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "perfdb/surface.h"

namespace setpoint::perfdb {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

// Two axes a, b in 1 2 4 8; time = 1 + a b, the corner a b > 16 unmeasured.
Slice staircase() {
  Slice slice;
  slice.axes = {{{"a"}, {1, 2, 4, 8}}, {{"b"}, {1, 2, 4, 8}}};
  for (const int a : {1, 2, 4, 8}) {
    for (const int b : {1, 2, 4, 8}) {
      slice.latency_ms.push_back(a * b > 16 ? kNone : static_cast<float>(1 + a * b));
    }
  }
  return slice;
}

const Physics kProduct{[](std::span<const double> at) { return at[0] * at[1]; }, 1};

Surface completed() {
  const AxisRule rules[] = {{LineRule{}, 1, 64, 1}, {LineRule{}, 1, 64, 1}};
  return Surface(complete(grid_of(staircase()), rules, kProduct), false);
}

TEST(Grid, KeepsMeasuredCellsAndFindsTheMissingCornerByTheBoundsSlope) {
  const Surface surface = completed();
  EXPECT_DOUBLE_EQ(surface.at(4, 4).ms, 17);
  EXPECT_EQ(surface.at(4, 4).mark, Mark::measured);
  EXPECT_NEAR(surface.at(8, 8).ms, 65, 1e-9);  // time is exactly floor + bound
  EXPECT_EQ(surface.at(8, 8).mark, Mark::extrapolated);
  EXPECT_NEAR(surface.at(32, 64).ms, 1 + 32 * 64, 1e-6);
}

TEST(Grid, InterpolatesBetweenMeasuredCells) {
  const Surface::Value v = completed().at(3, 2);
  EXPECT_DOUBLE_EQ(v.ms, 7);
  EXPECT_EQ(v.mark, Mark::interpolated);
}

TEST(Grid, GrowsAndStaysContinuousBeyondItsBorder) {
  const Surface surface = completed();
  for (const double a : {1.0, 4.0, 8.0}) {
    double before = 0;
    for (double b = 1; b < 300; b *= 1.05) {
      const double ms = surface.at(a, b).ms;
      EXPECT_GE(ms, before);
      before = ms;
    }
    EXPECT_NEAR(surface.at(a, 8.0001).ms / surface.at(a, 8).ms, 1, 0.01);
  }
}

TEST(Grid, FixesTheOutermostAxisOnAndBetweenItsCoordinates) {
  const Grid on = fix(grid_of(staircase()), 8, {}, kProduct);
  EXPECT_EQ(on.marks[3], Mark::unknown);  // (8, 8) is not measured, and 8 is collected
  EXPECT_DOUBLE_EQ(on.ms[1], 17);
  const Grid between = fix(grid_of(staircase()), 3, {}, kProduct);
  EXPECT_DOUBLE_EQ(between.ms[2], 13);
  EXPECT_EQ(between.marks[2], Mark::interpolated);
}

}  // namespace
}  // namespace setpoint::perfdb
