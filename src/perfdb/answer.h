// SPDX-License-Identifier: Apache-2.0
// A time and what it rests on.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "setpoint/units.h"

namespace setpoint::perfdb {

// From best to worst; the list is closed and the same on screen, in JSON and in docs.
enum class Source : std::uint8_t {
  measured,
  interpolated,
  extrapolated,
  borrowed,
  compact,
  roofline
};
inline constexpr std::size_t kSourceCount = 6;
inline constexpr std::array<std::string_view, kSourceCount> kSourceNames{
    "measured", "interpolated", "extrapolated", "borrowed", "compact", "roofline"};

struct Answer {
  Ms time{};
  Source source = Source::roofline;
  double sigma = 0;  // expected relative error of this kind of answer, docs/accuracy.md
};

// Time by source: how much of a sum rests on what.
struct Evidence {
  std::array<double, kSourceCount> ms{};
  void add(const Answer& a, double count = 1) {
    ms[static_cast<std::size_t>(a.source)] += a.time.value() * count;
  }
  void add(const Evidence& e, double count = 1) {
    for (std::size_t i = 0; i < kSourceCount; ++i) ms[i] += e.ms[i] * count;
  }
  double total() const {
    double sum = 0;
    for (double v : ms) sum += v;
    return sum;
  }
  bool operator==(const Evidence&) const = default;
};

}  // namespace setpoint::perfdb
