// SPDX-License-Identifier: Apache-2.0
// Properties of the expert-load law over many routers, and the paper's own figure for it.
#include "perfdb/power_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

namespace setpoint::perfdb {
namespace {

std::vector<Routing> routers() {
  std::vector<Routing> all;
  for (const std::int64_t experts : {8, 32, 60, 128, 256, 384}) {
    for (const std::int64_t topk : {1, 2, 4, 8}) {
      for (const std::int64_t ep : {1, 2, 7, 8, 32}) {
        for (const double alpha : {0.0, 0.3, 1.0, 1.01, 1.2, 2.5, 9.0}) {
          if (ep <= experts) all.push_back({experts, topk, ep, alpha});
        }
      }
    }
  }
  return all;
}
constexpr std::int64_t kTokens[] = {0, 1, 2, 3, 17, 128, 1000, 8192, 65536};

std::int64_t sum(std::span<const std::int64_t> loads) {
  return std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
}

TEST(PowerLaw, TotalsAreExactAndNoExpertExceedsTheTokens) {
  for (const Routing& r : routers()) {
    for (const std::int64_t tokens : kTokens) {
      const auto loads = sample_expert_loads(r, tokens, 7);
      ASSERT_EQ(loads.size(), static_cast<std::size_t>(r.experts));
      ASSERT_EQ(sum(loads), tokens * r.topk) << r.experts << " " << r.alpha << " " << tokens;
      ASSERT_GE(*std::min_element(loads.begin(), loads.end()), 0);
      ASSERT_LE(*std::max_element(loads.begin(), loads.end()), tokens);
    }
  }
}

TEST(PowerLaw, RanksHoldEveryExpertOnceInOrder) {
  for (const Routing& r : routers()) {
    const auto loads = sample_expert_loads(r, 100, 1);
    std::vector<std::int64_t> joined;
    for (std::int64_t rank = 0; rank < r.ep; ++rank) {
      const auto part = rank_loads(r, loads, rank);
      ASSERT_FALSE(part.empty());
      joined.insert(joined.end(), part.begin(), part.end());
    }
    ASSERT_EQ(joined, loads);
    const std::int64_t hottest = hottest_rank_tokens(r, loads);
    ASSERT_GE(hottest * r.ep, sum(loads));
    ASSERT_LE(hottest, sum(loads));
  }
}

TEST(PowerLaw, BalancedLoadsDifferByAtMostOneToken) {
  for (const std::int64_t tokens : kTokens) {
    const auto loads = sample_expert_loads({60, 8, 4, 0}, tokens, 3);
    const auto [low, high] = std::minmax_element(loads.begin(), loads.end());
    EXPECT_LE(*high - *low, 1) << tokens;
  }
}

TEST(PowerLaw, EveryExpertGetsAllTokensWhenAllAreChosen) {
  const auto loads = sample_expert_loads({8, 8, 2, 1.2}, 100, 5);
  EXPECT_EQ(loads, std::vector<std::int64_t>(8, 100));
}

TEST(PowerLaw, OneSeedGivesOneAnswerAndAnotherSeedAnother) {
  const Routing r{128, 8, 8, 1.2};
  EXPECT_EQ(sample_expert_loads(r, 4096, 11), sample_expert_loads(r, 4096, 11));
  EXPECT_NE(sample_expert_loads(r, 4096, 11), sample_expert_loads(r, 4096, 12));
}

// Inverse transform by hand: alpha = 2 on [1, 4] has the quantile 1 / (1 - 0.75 u); alpha = 0 is
// the straight line; alpha = 1 the geometric one.
TEST(PowerLaw, QuantilesFollowTheInverseTransform) {
  EXPECT_DOUBLE_EQ(power_law_quantile(0.5, 2, 1, 4), 1.6);
  EXPECT_DOUBLE_EQ(power_law_quantile(0.5, 0, 1, 4), 2.5);
  EXPECT_DOUBLE_EQ(power_law_quantile(0.5, 1, 1, 4), 2.0);
  EXPECT_NEAR(power_law_quantile(0.5, 1 + 1e-8, 1, 4), 2.0, 1e-6);
  EXPECT_DOUBLE_EQ(power_law_quantile(0, 1.2, 0.01, 2), 0.01);
  EXPECT_LE(power_law_quantile(1 - 0x1p-53, 1.2, 1, 6553), 6553);
}

// For alpha -> 0 popularities become uniform on [x_min, x_max]: over many experts the hottest
// fifth then holds 1 - 0.8^2 = 36 % of the tokens, and the quantiles are evenly spaced.
TEST(PowerLaw, VanishingExponentMakesPopularityUniform) {
  const auto loads = sample_expert_loads({20000, 1, 1, 1e-6}, 1 << 22, 2);
  EXPECT_NEAR(hottest_share(loads, 0.2), 0.36, 0.005);
  for (const double u : {0.1, 0.5, 0.9}) {
    EXPECT_NEAR(power_law_quantile(u, 1e-9, 1, 101), 1 + 100 * u, 1e-5);
  }
}

TEST(PowerLaw, HottestRankGrowsWithTheExponent) {
  for (const std::int64_t ep : {2, 8, 32}) {
    for (const double tokens : {256.0, 4096.0}) {
      double last = 1;
      for (const double alpha : {0.1, 0.6, 1.01, 1.2, 1.5}) {
        const double factor = HottestRank({128, 8, ep, alpha}).factor(tokens);
        EXPECT_GT(factor, last) << "ep " << ep << " alpha " << alpha << " tokens " << tokens;
        EXPECT_LE(factor, static_cast<double>(ep));
        last = factor;
      }
    }
  }
}

TEST(PowerLaw, HottestRankIsTheMeanOneWithoutSkewOrWithOneRank) {
  for (const double tokens : {16.0, 1000.0, 1e9}) {
    EXPECT_DOUBLE_EQ(HottestRank({128, 8, 1, 1.2}).factor(tokens), 1);
    EXPECT_DOUBLE_EQ(HottestRank({128, 8, 8, 0}).factor(tokens), 1);
  }
}

// The stored mean of few draws against a mean of many at a point between two knots.
TEST(PowerLaw, HottestRankEstimateIsNearTheMeanOfManyDraws) {
  for (const double alpha : {1.01, 1.2}) {
    for (const std::int64_t ep : {4, 16}) {
      const Routing r{256, 8, ep, alpha};
      constexpr std::int64_t kAt = 3000;
      constexpr int kMany = 2000;
      double mean = 0;
      for (int draw = 0; draw < kMany; ++draw) {
        const auto loads = sample_expert_loads(r, kAt, static_cast<std::uint64_t>(draw) + 1000);
        mean += static_cast<double>(hottest_rank_tokens(r, loads)) / kMany;
      }
      mean /= static_cast<double>(kAt * r.topk) / static_cast<double>(r.ep);
      EXPECT_NEAR(HottestRank(r).factor(kAt) / mean, 1, 0.1) << alpha << " " << ep;
    }
  }
}

// The paper: at alpha = 1.2 about 70 % of the tokens fall on the hottest 20 % of the experts. Its
// law depends on the tokens through x_max = 0.8 x tokens, so the share does too; printed beside.
TEST(PowerLaw, HottestFifthOfExpertsHoldsThePapersShareAtAlpha12) {
  constexpr double kPaper = 0.70;
  constexpr int kDrawn = 200;
  double nearest = 1;
  std::printf("alpha 1.2, 128 experts, top-8: share of the hottest 20 %% (paper: %.0f %%)\n",
              kPaper * 100);
  double last = 0;
  for (std::int64_t tokens = 32; tokens <= 8192; tokens *= 2) {
    double share = 0;
    for (int draw = 0; draw < kDrawn; ++draw) {
      share += hottest_share(
          sample_expert_loads({128, 8, 1, 1.2}, tokens, static_cast<std::uint64_t>(draw)), 0.2);
    }
    share /= kDrawn;
    std::printf("  %6lld tokens: %.1f %%\n", static_cast<long long>(tokens), share * 100);
    EXPECT_GT(share, last);
    last = share;
    nearest = std::min(nearest, std::abs(share - kPaper));
  }
  EXPECT_LT(nearest, 0.05);
}

TEST(PowerLaw, NonsenseIsTakenToTheNearestPossibleRouter) {
  const auto loads = sample_expert_loads({-4, 99, 0, NAN}, -10, 1);
  EXPECT_EQ(loads, std::vector<std::int64_t>(1, 0));
  EXPECT_EQ(sum(sample_expert_loads({4, 9, 9, 1e6}, 10, 1)), 40);
}

}  // namespace
}  // namespace setpoint::perfdb
