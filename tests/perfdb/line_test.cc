// SPDX-License-Identifier: Apache-2.0
#include "perfdb/line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace setpoint::perfdb {
namespace {

// Time = 3 + 2 x, bound = x, floor 1.
const std::vector<Knot> kKnots{{1, 5, 1}, {2, 7, 2}, {4, 11, 4}, {8, 19, 8}};

double at(LineRule rule, double x, double bound = -1) {
  return answer(rule, kKnots, x, bound < 0 ? x : bound, 1).ms;
}

TEST(Line, AnswersAKnotByItself) {
  const LineAnswer a = answer({}, kKnots, 4, 4, 1);
  EXPECT_EQ(a.ms, 11);
  EXPECT_EQ(a.mark, Mark::measured);
}

TEST(Line, InterpolatesAsItsRuleSays) {
  EXPECT_DOUBLE_EQ(at({.between = Between::line}, 6), 15);
  EXPECT_DOUBLE_EQ(at({.between = Between::root}, 6),
                   std::pow((std::sqrt(11) + std::sqrt(19)) / 2, 2));
  // Utilisation 5/11 at 4 and 9/19 at 8; at x = sqrt(32) the log-mean of both.
  const double x = std::sqrt(32.0);
  EXPECT_NEAR(at({.between = Between::log_utilisation}, x), (1 + x) / std::sqrt(5.0 / 11 * 9 / 19),
              1e-12);
  // Above the floor: 10 at 4, 18 at 8.
  EXPECT_NEAR(at({.between = Between::log_above_floor}, x), 1 + std::sqrt(180.0), 1e-12);
}

TEST(Line, GrowsWithTheBoundAtTheLastOctavesSlope) {
  // Slope (19 - 7) / (8 - 2) = 2 over two octaves: 19 + 2 (16 - 8).
  EXPECT_DOUBLE_EQ(at({.above = Above::bound_secant}, 16), 35);
}

TEST(Line, HoldsUtilisationWhereTheEndIsStillBoundByLaunch) {
  const std::vector<Knot> flat{{1, 5, 0.10}, {2, 5, 0.11}, {4, 5, 0.12}};
  // Bounds did not double: log-mean of 5/1.1, 5/1.11, 5/1.12 times 1 + 3.
  const double waste = std::cbrt(125 / (1.1 * 1.11 * 1.12));
  EXPECT_NEAR(answer({}, flat, 8, 3, 1).ms, 4 * waste, 1e-12);
}

TEST(Line, ExtendsInTheAxisWithoutFallingOrOutrunningProportion) {
  const LineRule rule{.above = Above::axis_secant, .octaves = 1};
  EXPECT_DOUBLE_EQ(at(rule, 12), 27);  // slope 2
  const std::vector<Knot> falling{{4, 9, 1}, {8, 8, 1}}, steep{{4, 1, 1}, {8, 8, 1}};
  EXPECT_DOUBLE_EQ(answer(rule, falling, 16, 1, 1).ms, 8);
  EXPECT_DOUBLE_EQ(answer(rule, steep, 16, 1, 1).ms, 16);  // 8 / 8 per x, not 7 / 4
}

TEST(Line, StaysAtTheLeastTimeBelow) {
  const LineAnswer a = answer({.below = Below::least}, kKnots, 0.5, 0.5, 1);
  EXPECT_EQ(a.ms, 5);
  EXPECT_EQ(a.mark, Mark::extrapolated);
  EXPECT_DOUBLE_EQ(a.octaves_outside, 1);
}

TEST(Line, HoldsUtilisationBelow) { EXPECT_DOUBLE_EQ(at({}, 0.5), 1.5 * 5 / 2); }

}  // namespace
}  // namespace setpoint::perfdb
