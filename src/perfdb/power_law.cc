// SPDX-License-Identifier: Apache-2.0
#include "perfdb/power_law.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace setpoint::perfdb {
namespace {

// Bounds of the popularity in the published collection: up to 0.8 of the tokens may fall on one
// expert; with fewer assignments than experts the law is drawn on [0.01, 2] instead.
constexpr double kLow = 1, kHighShare = 0.8;
constexpr double kSparseLow = 0.01, kSparseHigh = 2;
constexpr double kLogUniformNear = 1e-9;  // |alpha - 1| below which the power form loses digits
// Keeps tokens * topk and the sums far from the end of 64 bits.
constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;
constexpr std::int64_t kMostExperts = 1 << 16;

// splitmix64 (Steele, Lea, Flood 2014): the standard library's distributions differ by platform.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : state_(seed) {}
  double next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

Routing inside_bounds(Routing r) {
  r.experts = std::clamp<std::int64_t>(r.experts, 1, kMostExperts);
  r.topk = std::clamp<std::int64_t>(r.topk, 1, r.experts);
  r.ep = std::clamp<std::int64_t>(r.ep, 1, r.experts);
  if (!(r.alpha > 0)) r.alpha = 0;
  return r;
}

std::size_t first_expert(const Routing& r, std::int64_t rank) {
  return static_cast<std::size_t>(rank * (r.experts / r.ep) + std::min(rank, r.experts % r.ep));
}

std::span<std::int64_t> rank_of(const Routing& r, std::vector<std::int64_t>& loads,
                                std::int64_t rank) {
  const std::size_t first = first_expert(r, rank);
  return {loads.data() + first, first_expert(r, rank + 1) - first};
}

// Gives `amount` tokens to the experts of one rank, each to the least loaded at that moment, none
// above `cap`: the lowest are raised to a common level. Taking tokens away is the same on negated
// loads. Room for `amount` must be there.
void raise_lowest(std::span<std::int64_t> loads, std::int64_t amount, std::int64_t cap) {
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return loads[a] < loads[b]; });
  for (std::size_t raised = 1; amount > 0 && raised <= order.size(); ++raised) {
    const std::int64_t level = loads[order[raised - 1]];
    const std::int64_t next = raised < order.size() ? loads[order[raised]] : cap;
    const auto count = static_cast<std::int64_t>(raised);
    const std::int64_t lift = std::min((next - level) * count, amount);
    for (std::size_t i = 0; i < raised; ++i) {
      loads[order[i]] += lift / count + (static_cast<std::int64_t>(i) < lift % count ? 1 : 0);
    }
    amount -= lift;
  }
}

std::int64_t room(std::span<const std::int64_t> loads, std::int64_t cap) {
  return std::accumulate(loads.begin(), loads.end(), std::int64_t{0},
                         [&](std::int64_t sum, std::int64_t load) { return sum + cap - load; });
}

// Adds `amount` tokens, one per rank in turn, skipping ranks that are full.
void add_round_robin(const Routing& r, std::vector<std::int64_t>& loads, std::int64_t amount,
                     std::int64_t cap) {
  std::vector<std::int64_t> open(static_cast<std::size_t>(r.ep));
  std::iota(open.begin(), open.end(), std::int64_t{0});
  while (amount > 0) {
    std::vector<std::int64_t> still_open;
    const auto ranks = static_cast<std::int64_t>(open.size());
    const std::int64_t each = amount / ranks, extra = amount % ranks;
    for (std::int64_t i = 0; i < ranks; ++i) {
      const std::int64_t rank = open[static_cast<std::size_t>(i)];
      const auto of_rank = rank_of(r, loads, rank);
      const std::int64_t free = room(of_rank, cap);
      const std::int64_t share = std::min(each + (i < extra ? 1 : 0), free);
      raise_lowest(of_rank, share, cap);
      amount -= share;
      if (share < free) still_open.push_back(rank);
    }
    open = std::move(still_open);
    if (open.empty()) break;
  }
}

void make_exact(const Routing& r, std::vector<std::int64_t>& loads, std::int64_t tokens) {
  const std::int64_t rest =
      tokens * r.topk - std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
  if (rest >= 0) {
    add_round_robin(r, loads, rest, tokens);
    return;
  }
  for (std::int64_t& load : loads) load = -load;
  add_round_robin(r, loads, -rest, 0);
  for (std::int64_t& load : loads) load = -load;
}

std::vector<double> popularities(const Routing& r, std::int64_t tokens, std::uint64_t seed) {
  std::vector<double> weights(static_cast<std::size_t>(r.experts), 1.0);
  if (r.alpha == 0) return weights;
  const bool dense = tokens * r.topk > r.experts;
  const double low = dense ? kLow : kSparseLow;
  const double high =
      dense ? std::max(kHighShare * static_cast<double>(tokens), kLow) : kSparseHigh;
  Uniform uniform(seed);
  for (double& w : weights) w = power_law_quantile(uniform.next(), r.alpha, low, high);
  return weights;
}

}  // namespace

double power_law_quantile(double u, double alpha, double low, double high) {
  const double ratio = high / low;
  if (std::abs(alpha - 1) < kLogUniformNear) return low * std::pow(ratio, u);
  // Relative to `low`, so that a large exponent neither overflows nor loses the upper end.
  const double power = 1 - alpha;
  const double x = low * std::pow((std::pow(ratio, power) - 1) * u + 1, 1 / power);
  return std::clamp(x, low, high);
}

std::vector<std::int64_t> sample_expert_loads(const Routing& routing, std::int64_t tokens,
                                              std::uint64_t seed) {
  const Routing r = inside_bounds(routing);
  tokens = std::clamp<std::int64_t>(tokens, 0, kMostTokens);
  const std::vector<double> weights = popularities(r, tokens, seed);
  const double scale =
      static_cast<double>(tokens * r.topk) / std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> loads(weights.size());
  std::transform(weights.begin(), weights.end(), loads.begin(), [&](double w) {
    return std::min(static_cast<std::int64_t>(std::llround(w * scale)), tokens);
  });
  make_exact(r, loads, tokens);
  return loads;
}

std::span<const std::int64_t> rank_loads(const Routing& routing,
                                         std::span<const std::int64_t> loads, std::int64_t rank) {
  const Routing r = inside_bounds(routing);
  const std::size_t first = first_expert(r, rank);
  return loads.subspan(first, first_expert(r, rank + 1) - first);
}

std::int64_t hottest_rank_tokens(const Routing& routing, std::span<const std::int64_t> loads) {
  std::int64_t hottest = 0;
  for (std::int64_t rank = 0; rank < inside_bounds(routing).ep; ++rank) {
    const auto of_rank = rank_loads(routing, loads, rank);
    hottest = std::max(hottest, std::accumulate(of_rank.begin(), of_rank.end(), std::int64_t{0}));
  }
  return hottest;
}

double hottest_share(std::span<const std::int64_t> loads, double share_of_experts) {
  std::vector<std::int64_t> sorted(loads.begin(), loads.end());
  std::sort(sorted.rbegin(), sorted.rend());
  const auto count = std::clamp<std::ptrdiff_t>(
      std::llround(share_of_experts * static_cast<double>(sorted.size())), 1,
      static_cast<std::ptrdiff_t>(sorted.size()));
  const auto total = std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0});
  const auto top = std::accumulate(sorted.begin(), sorted.begin() + count, std::int64_t{0});
  return total == 0 ? 0 : static_cast<double>(top) / static_cast<double>(total);
}

HottestRank::HottestRank(const Routing& routing) {
  const Routing r = inside_bounds(routing);
  for (std::size_t knot = 0; knot < factor_.size(); ++knot) {
    const std::int64_t tokens = std::int64_t{1} << (2 * knot);
    const int draws = r.alpha == 0 ? 1 : kDraws;
    double sum = 0;
    // The same seeds for every exponent: what moves with alpha is the law, not the draw.
    for (int draw = 0; draw < draws; ++draw) {
      const auto loads = sample_expert_loads(r, tokens, static_cast<std::uint64_t>(draw));
      sum += static_cast<double>(hottest_rank_tokens(r, loads));
    }
    const double mean = static_cast<double>(tokens * r.topk) / static_cast<double>(r.ep);
    factor_[knot] = sum / draws / mean;
  }
}

double HottestRank::factor(double tokens) const {
  const double x = std::clamp(std::log2(std::max(tokens, 1.0)) / 2, 0.0, kKnots - 1.0);
  const auto knot = std::min(static_cast<std::size_t>(x), factor_.size() - 2);
  const double part = x - static_cast<double>(knot);
  return factor_[knot] + (factor_[knot + 1] - factor_[knot]) * part;
}

}  // namespace setpoint::perfdb
