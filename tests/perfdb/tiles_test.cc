// SPDX-License-Identifier: Apache-2.0
#include "perfdb/tiles.h"

#include <gtest/gtest.h>

#include "perfdb/surface.h"

namespace setpoint::perfdb {
namespace {

// Full tiles take 10 and 20, broken ones 15 and 25: the piece 17 -> 48 does not fall, 49 -> 64
// does.
const Curve kCurve{{16, 10, 1}, {17, 15, 1}, {48, 20, 1}, {49, 25, 1}, {64, 21, 1}, {65, 27, 1}};

TEST(Tiles, GivesWholeAndBrokenTilesTheirOwnLineWhereTimeFalls) {
  const TileLanes lanes = split_by_tile(kCurve);
  EXPECT_EQ(lanes.modulus, 16);
  const Surface aligned(grid_of(lanes.aligned), false), broken(grid_of(lanes.broken), false);
  EXPECT_DOUBLE_EQ(aligned.at(0, 56).ms, 20.5);  // between (48, 20) and (64, 21)
  EXPECT_DOUBLE_EQ(broken.at(0, 57).ms, 26);     // between (49, 25) and (65, 27)
  for (const Knot& knot : kCurve) {
    const bool whole = static_cast<int>(knot.x) % 16 == 0;
    EXPECT_DOUBLE_EQ((whole ? aligned : broken).at(0, knot.x).ms, knot.ms) << knot.x;
  }
}

TEST(Tiles, SeesKernelsThatPreferMultiplesOfFour) {
  Curve curve;
  for (int m = 1; m <= 16; ++m) {
    curve.push_back({static_cast<double>(m), m % 4 == 0 ? 7.0 : 10.0, 1});
  }
  EXPECT_EQ(split_by_tile(curve).modulus, 4);
}

}  // namespace
}  // namespace setpoint::perfdb
