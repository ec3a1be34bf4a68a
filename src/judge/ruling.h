// SPDX-License-Identifier: Apache-2.0
// The first step's answer about one candidate, as far as a launch depends on it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace setpoint::judge {

struct Ruling {
  // `review`: something is unknown; it may run, under the whole second step, and is named to a
  // person. `unchanged`: the baseline's own recipe; a baseline run is one, a trial of it is
  // refused.
  enum class Verdict : std::uint8_t { pass, reject, review, unchanged };
  static constexpr std::array<std::string_view, 4> kNames{"pass", "reject", "review", "unchanged"};

  Verdict verdict = Verdict::reject;
  std::string effective_hash;  // of the final values that were judged
  std::string snapshot;        // SHA-256 of what was frozen before
  std::string reason;

  std::string_view name() const { return kNames[static_cast<std::size_t>(verdict)]; }
};

}  // namespace setpoint::judge
