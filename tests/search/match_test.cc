// SPDX-License-Identifier: Apache-2.0
#include "search/match.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace {

using setpoint::search::Match;
using setpoint::search::match_decode;
using setpoint::search::match_gpus;
using setpoint::search::match_rate;
using setpoint::search::PoolPair;

// By trying every x and y.
std::optional<Match> exhaustive(const PoolPair& p, std::int64_t gpus) {
  std::optional<Match> best;
  for (std::int64_t x = 1; x * p.prefill_gpus < gpus; ++x) {
    for (std::int64_t y = 1; x * p.prefill_gpus + y * p.decode_gpus <= gpus; ++y) {
      const double rate = std::min(double(x) * p.prefill_rate, double(y) * p.decode_rate);
      if (!best || rate > best->rate) best = Match{x, y, rate};
    }
  }
  return best;
}

TEST(Match, FindsTheBestOfAllWorkerCounts) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> rate(0.01, 20);
  std::uniform_int_distribution<std::int64_t> width(1, 9), gpus(1, 120);
  for (int i = 0; i < 3000; ++i) {
    const PoolPair pair{rate(random), rate(random), width(random), width(random)};
    const std::int64_t asked = gpus(random);
    const auto found = match_gpus(pair, asked);
    const auto wanted = exhaustive(pair, asked);
    ASSERT_EQ(found.has_value(), wanted.has_value());
    if (!found) continue;
    EXPECT_DOUBLE_EQ(found->rate, wanted->rate);
    EXPECT_LE(found->prefill * pair.prefill_gpus + found->decode * pair.decode_gpus, asked);
    // One worker less of either kind is slower: nothing idle is asked for.
    EXPECT_LT(std::min(double(found->prefill - 1) * pair.prefill_rate,
                       double(found->decode) * pair.decode_rate),
              found->rate);
    EXPECT_LT(std::min(double(found->prefill) * pair.prefill_rate,
                       double(found->decode - 1) * pair.decode_rate),
              found->rate);
  }
}

// AIConfigurator 0.12.0, Qwen3-32B on 8 H200: 2.403 and 11.023 requests/s a worker with its losses
// 0.9 and 0.92 taken off, 4 prefill workers of one GPU and one decode worker of four: 8.651/s.
TEST(Match, ReproducesAPublishedFourToOneDeployment) {
  const auto found = match_gpus({2.403 * 0.9, 11.023 * 0.92, 1, 4}, 8);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->prefill, 4);
  EXPECT_EQ(found->decode, 1);
  EXPECT_NEAR(found->rate, 8.651, 0.001);
}

TEST(Match, FewestWorkersForARate) {
  const PoolPair pair{2, 5, 1, 4};
  EXPECT_EQ(match_rate(pair, 10, 1024), (Match{5, 2, 10}));
  EXPECT_EQ(match_rate(pair, 10.01, 1024)->prefill, 6);
  EXPECT_EQ(match_rate(pair, 10, 12), std::nullopt);  // 13 GPUs are needed
  EXPECT_EQ(match_decode(pair, 2, 1024), (Match{5, 2, 10}));
}

TEST(Match, RatesThatAreNoRatesMatchNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double bad : {nan, 0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(match_gpus({bad, 1, 1, 1}, 8), std::nullopt);
    EXPECT_EQ(match_rate({1, bad, 1, 1}, 1, 8), std::nullopt);
  }
  EXPECT_EQ(match_gpus({1, 1, 4, 5}, 8), std::nullopt);
  EXPECT_EQ(match_rate({1e-300, 1, 1, 1}, 1e300, 8), std::nullopt);
}

}  // namespace
