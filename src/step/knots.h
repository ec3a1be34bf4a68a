// SPDX-License-Identifier: Apache-2.0
// The token counts at which a plan's token-driven operators are priced: all integers below 64, then
// 64 per octave, i.e. numbers of seven significant bits. Between two knots (at most 1.6 % apart)
// time is linear. Measured token counts (1 .. 32768 in steps of 1/2 and 1/4 octaves) are knots, so
// that no bend of a table lies inside an interval.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace setpoint::step {

struct Knots {
  std::size_t index = 0;  // of `low`; `high` is the next one
  double low = 0, high = 0;
  double weight = 0;  // of high, 0..1
};

inline constexpr double kFirstSpacedKnot = 64;
inline constexpr double kMostTokens = 1099511627776.0;  // 2^40: keeps indices small on nonsense

inline Knots knots_around(double count) {
  constexpr int kDroppedBits = 52 - 6;  // a double's mantissa, of which six bits are kept
  const double n = std::clamp(count, 1.0, kMostTokens);
  Knots k;
  if (n < kFirstSpacedKnot) {
    k.index = static_cast<std::size_t>(n);
    k.low = static_cast<double>(k.index);
    k.high = k.low + 1;
  } else {
    const std::uint64_t top = std::bit_cast<std::uint64_t>(n) >> kDroppedBits;
    const std::uint64_t first = std::bit_cast<std::uint64_t>(kFirstSpacedKnot) >> kDroppedBits;
    k.index = static_cast<std::size_t>(top - first) + static_cast<std::size_t>(kFirstSpacedKnot);
    k.low = std::bit_cast<double>(top << kDroppedBits);
    k.high = std::bit_cast<double>((top + 1) << kDroppedBits);
  }
  k.weight = (n - k.low) / (k.high - k.low);
  return k;
}

}  // namespace setpoint::step
