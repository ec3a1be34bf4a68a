// SPDX-License-Identifier: Apache-2.0
// How unevenly a router loads the experts of a mixture-of-experts layer: the power law of the
// AIConfigurator paper, as its published tables were collected ("power_law_1.01", "power_law_1.2").
// A law draws one popularity per expert, turns them into whole tokens that add up exactly, and
// tells the tokens of the hottest rank, which is the one every other rank waits for.
// Everything here is pure and the same on every machine for one seed.
//
// Two kinds of "even": alpha = 0 in `Routing` is the tables' "balanced" (every expert the same, as
// in ops::Moe). The law's own limit for alpha -> 0 is another: popularities spread evenly between
// x_min and x_max, so the hottest rank still stands above the mean (docs/accuracy-compact.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace setpoint::perfdb {

// A router: `experts` lie contiguously on `ep` ranks, each token goes to `topk` different experts.
// 1 <= topk <= experts and 1 <= ep <= experts; values outside are taken to the nearest inside.
struct Routing {
  std::int64_t experts = 1;
  std::int64_t topk = 1;
  std::int64_t ep = 1;
  double alpha = 0;  // exponent; 0 (or less) = balanced
};

// Popularity drawn by inverse transform from the density x^-alpha on [low, high], at the uniform
// number u in [0, 1). alpha = 1 is the log-uniform case.
double power_law_quantile(double u, double alpha, double low, double high);

// Tokens of each expert, in expert order: their sum is tokens * topk, none exceeds tokens. Drawn
// popularities are scaled to the sum and rounded; the rest goes round the ranks, one token at a
// time, to the least (or from the most) loaded expert of the rank.
std::vector<std::int64_t> sample_expert_loads(const Routing& routing, std::int64_t tokens,
                                              std::uint64_t seed);

// Experts of rank r are [first, last) of the contiguous order; the first experts % ep ranks have
// one expert more.
std::span<const std::int64_t> rank_loads(const Routing& routing,
                                         std::span<const std::int64_t> loads, std::int64_t rank);
std::int64_t hottest_rank_tokens(const Routing& routing, std::span<const std::int64_t> loads);
// Share of all tokens on the most loaded `share_of_experts` (rounded to whole experts, at least 1).
double hottest_share(std::span<const std::int64_t> loads, double share_of_experts);

// Expected tokens of the hottest rank over the mean rank's, for any number of tokens: the mean of
// kDraws samples at powers of four, a line in log2 tokens between, the end value outside. One draw
// scatters by up to 22 % (measured: alpha 1.01 to 1.5, 8 to 256 experts, ep 2 to 32), the mean of
// 24 has a standard error of 5 % (worst seen 10 %); a published row is one such draw. Construction
// takes some 3 ms at 256 experts, factor() some nanoseconds and no allocation.
class HottestRank {
 public:
  static constexpr int kKnots = 9;  // 1, 4, ... 65536 tokens
  static constexpr int kDraws = 24;

  explicit HottestRank(const Routing& routing);
  double factor(double tokens) const;  // >= 1, <= ep

 private:
  std::array<double, kKnots> factor_{};
};

}  // namespace setpoint::perfdb
