// SPDX-License-Identifier: Apache-2.0
// Quantities with their unit in the type, so that adding bytes to milliseconds does not compile.
// Outside the language (JSON, CSV, SQL) the name carries the unit instead: `ttft_ms`, `kv_bytes`.
#pragma once

#include <compare>
#include <cstdint>

namespace setpoint {

// A number of one unit. Same-unit sums and scalar multiples stay in the unit; the ratio of two
// quantities of one unit is a plain number.
template <class Tag, class Rep = double>
class Quantity {
 public:
  using rep = Rep;
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }

  constexpr Quantity& operator+=(Quantity o) {
    value_ += o.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    value_ -= o.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, Rep s) { return Quantity(a.value_ * s); }
  friend constexpr Quantity operator*(Rep s, Quantity a) { return Quantity(s * a.value_); }
  friend constexpr Quantity operator/(Quantity a, Rep s) { return Quantity(a.value_ / s); }
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  Rep value_{};
};

using Ms = Quantity<struct MsTag>;                      // milliseconds, the unit of both papers
using Seconds = Quantity<struct SecondsTag>;            // of clocks and time limits
using GpuHours = Quantity<struct GpuHoursTag>;          // GPUs held, times the hours
using Bytes = Quantity<struct BytesTag, std::int64_t>;  // bytes
using BytesPerS = Quantity<struct BytesPerSTag>;        // bandwidth
using Flop = Quantity<struct FlopTag>;                  // floating-point operations
using FlopPerS = Quantity<struct FlopPerSTag>;          // compute rate

inline constexpr double kMsPerS = 1000.0;
inline constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;

// The only ways from work to time.
constexpr Ms time_of(double bytes, BytesPerS bw) { return Ms(bytes / bw.value() * kMsPerS); }
constexpr Ms time_of(Flop work, FlopPerS rate) { return Ms(work.value() / rate.value() * kMsPerS); }

inline constexpr double kSecondsPerHour = 3600.0;
constexpr GpuHours held(int gpus, Seconds time) {
  return GpuHours(gpus * time.value() / kSecondsPerHour);
}

constexpr double gib(Bytes b) { return static_cast<double>(b.value()) / kBytesPerGib; }

}  // namespace setpoint
