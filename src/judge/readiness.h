// SPDX-License-Identifier: Apache-2.0
// Whether a baseline can show an error at all. A run from random weights, with dropout, on made-up
// data or with its NaN checks off looks the same whether or not something is broken; NVIDIA's
// public performance recipes are such as shipped. What holds is the gate's power; a campaign on low
// power needs a person's word.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rule.h"
#include "judge/signals.h"
#include "recipe/final_values.h"

namespace setpoint::judge {

enum class Power : std::uint8_t { low, medium, high };
inline constexpr std::array<std::string_view, 3> kPowers{"low", "medium", "high"};

struct ReadinessCheck {
  std::string_view name, what;
  bool needed = false;  // without it the power is low
  Truth holds = Truth::unknown;
};
struct Readiness {
  Power power = Power::low;  // high: all hold; medium: all that are needed
  std::vector<ReadinessCheck> checks;
};

Readiness check_readiness(const recipe::FinalValues& baseline, std::span<const Evidence> runs);

}  // namespace setpoint::judge
