// SPDX-License-Identifier: Apache-2.0
#include "search/grid.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace setpoint;
using namespace setpoint::search;

bool holds(const std::vector<std::int64_t>& grid, std::int64_t value) {
  return std::find(grid.begin(), grid.end(), value) != grid.end();
}

TEST(BatchGrid, HasNoGapAboveThreePercentAndEndsWhereMemoryEnds) {
  const auto grid = batch_grid(777);
  EXPECT_EQ(grid.front(), 1);
  EXPECT_EQ(grid.back(), 777);
  for (std::size_t i = 1; i < grid.size(); ++i) {
    EXPECT_GT(grid[i], grid[i - 1]);
    if (grid[i] > 64) {
      EXPECT_LE(double(grid[i]) / double(grid[i - 1]), 1.032);
    }
  }
  EXPECT_TRUE(batch_grid(0).empty());
  EXPECT_EQ(batch_grid(1), (std::vector<std::int64_t>{1}));
}

// AIConfigurator 0.12.0 tries 1-15, 16-28/4, 32-56/8, 64-240/16, 256-480/32, 512 aggregated and
// 16-30/2, 32-124/4, 128-504/8, 512 for decode workers.
TEST(BatchGrid, HoldsEveryBatchThePeerTries) {
  const auto grid = batch_grid(512);
  for (std::int64_t b = 1; b <= 64; ++b) EXPECT_TRUE(holds(grid, b)) << b;
  for (std::int64_t b = 64; b <= 124; b += 4) EXPECT_TRUE(holds(grid, b)) << b;
  for (std::int64_t b = 128; b <= 512; b += 8) EXPECT_TRUE(holds(grid, b)) << b;
}

TEST(ChunkGrid, HoldsThePeersBudgetsAndTheFrameworksOwn) {
  const auto grid = chunk_grid({.isl = 4000, .osl = 500}, 8000, true);
  for (std::int64_t c = 512; c <= 8192; c += 512) EXPECT_TRUE(holds(grid, c)) << c;
  EXPECT_TRUE(holds(grid, 4000));
  EXPECT_TRUE(holds(grid, 8000));
  EXPECT_TRUE(std::is_sorted(grid.begin(), grid.end()));
  EXPECT_EQ(chunk_grid({.isl = 50000, .osl = 1}, 8192, true).back(), 100000);
}

TEST(ChunkGrid, WithoutChunkedPrefillOnlyWholePrompts) {
  for (std::int64_t c : chunk_grid({.isl = 3000, .osl = 10}, 8192, false)) EXPECT_EQ(c % 3000, 0);
}

TEST(ChunkGrid, ABudgetBeyondThePromptsInFlightIsNotTriedTwice) {
  const Workload w{.isl = 1000, .osl = 10};
  EXPECT_TRUE(chunk_is_distinct(512, 1, w));
  EXPECT_TRUE(chunk_is_distinct(2000, 2, w));
  EXPECT_FALSE(chunk_is_distinct(2001, 2, w));
}

TEST(PrefillBatchGrid, AlwaysHoldsOnePromptHoweverLong) {
  EXPECT_EQ(prefill_batch_grid({.isl = 1000000}), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(prefill_batch_grid({.isl = 128}).back(), 64);
}

}  // namespace
