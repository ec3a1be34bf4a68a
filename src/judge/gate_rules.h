// SPDX-License-Identifier: Apache-2.0
// The rules of the gate's first step, each a pure function of what it is shown that adds its
// findings. Their order is that of the report among equals.
#pragma once

#include <span>
#include <vector>

#include "judge/side_effects.h"
#include "recipe/diff.h"
#include "setpoint/gate.h"

namespace setpoint::judge {

struct GateView {
  const Register& by;
  recipe::FinalValues base, candidate;  // canonical, under the register's names, with our facts
  recipe::FinalValues base_requested, candidate_requested;  // the same of the requests, or empty
  const GateSide& original_side;
  const GateSide& candidate_side;
  std::vector<recipe::Difference> differences;
  std::vector<DefectMatch> defects;
  std::vector<Unasked> unasked;
};

using GateRule = void (*)(const GateView&, GateReport&);
std::span<const GateRule> gate_rules();

// Canonical values with the facts that this program computes itself (layer_map_complete); such a
// fact in the input is overruled.
recipe::FinalValues with_facts(const Register& by, const recipe::FinalValues& values);

}  // namespace setpoint::judge
