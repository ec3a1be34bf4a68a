// SPDX-License-Identifier: Apache-2.0
// Any bytes as a profiler's trace: read or refused, and whatever is read splits into parts that are
// finite and add up.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "profile/split.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace setpoint::profile;
  const auto trace = read_kineto(std::string(reinterpret_cast<const char*>(data), size), "");
  if (!trace) return 0;
  for (const StepSplit& step : split_steps(*trace)) {
    const Split& s = step.split;
    const double sum = s.compute_ms + s.communication_ms + s.host_ms + s.idle_ms;
    if (!std::isfinite(sum) || std::abs(sum - s.total_ms) > 1e-6 * std::abs(s.total_ms) + 1e-9) {
      std::abort();
    }
  }
  return 0;
}
