// SPDX-License-Identifier: Apache-2.0
#include "search/match.h"

#include <algorithm>
#include <cmath>

namespace setpoint::search {
namespace {

constexpr std::int64_t kMostWorkers = 1 << 20;

bool usable(const PoolPair& p) {
  return std::isfinite(p.prefill_rate) && std::isfinite(p.decode_rate) && p.prefill_rate > 0 &&
         p.decode_rate > 0 && p.prefill_gpus > 0 && p.decode_gpus > 0;
}

double rate_of(const PoolPair& p, std::int64_t x, std::int64_t y) {
  return std::min(static_cast<double>(x) * p.prefill_rate, static_cast<double>(y) * p.decode_rate);
}

// Fewest n >= 1 with n * each >= rate, or kMostWorkers + 1. The quotient may round either way.
std::int64_t fewest(double rate, double each) {
  const double quotient = rate / each;
  if (!(quotient <= static_cast<double>(kMostWorkers))) return kMostWorkers + 1;
  auto n = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(quotient)));
  while (n > 1 && static_cast<double>(n - 1) * each >= rate) --n;
  while (static_cast<double>(n) * each < rate) ++n;
  return n;
}

std::optional<Match> within(const PoolPair& p, std::int64_t x, std::int64_t y, std::int64_t most) {
  if (x > kMostWorkers || y > kMostWorkers) return std::nullopt;
  if (x * p.prefill_gpus + y * p.decode_gpus > most) return std::nullopt;
  return Match{.prefill = x, .decode = y, .rate = rate_of(p, x, y)};
}

}  // namespace

std::optional<Match> match_gpus(const PoolPair& p, std::int64_t gpus) {
  if (!usable(p) || p.prefill_gpus + p.decode_gpus > gpus) return std::nullopt;
  const std::int64_t most_x = (gpus - p.decode_gpus) / p.prefill_gpus;
  const auto most_y = [&](std::int64_t x) { return (gpus - x * p.prefill_gpus) / p.decode_gpus; };
  const auto prefill_bound = [&](std::int64_t x) {
    return static_cast<double>(x) * p.prefill_rate <=
           static_cast<double>(most_y(x)) * p.decode_rate;
  };
  // The prefill side rises with x and the decode side falls: the best x is the last one bound by
  // prefill or the next.
  std::int64_t low = 0, high = most_x;  // every x <= low is bound by prefill
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (prefill_bound(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  double best = 0;
  for (std::int64_t x : {low, low + 1}) {
    if (x >= 1 && x <= most_x) best = std::max(best, rate_of(p, x, most_y(x)));
  }
  return within(p, fewest(best, p.prefill_rate), fewest(best, p.decode_rate), gpus);
}

std::optional<Match> match_rate(const PoolPair& p, double rate, std::int64_t most_gpus) {
  if (!usable(p)) return std::nullopt;
  return within(p, fewest(rate, p.prefill_rate), fewest(rate, p.decode_rate), most_gpus);
}

std::optional<Match> match_decode(const PoolPair& p, std::int64_t decode, std::int64_t most_gpus) {
  if (!usable(p) || decode < 1) return std::nullopt;
  const double rate = static_cast<double>(decode) * p.decode_rate;
  return within(p, fewest(rate, p.prefill_rate), decode, most_gpus);
}

}  // namespace setpoint::search
