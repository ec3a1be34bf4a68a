// SPDX-License-Identifier: Apache-2.0
// plan.json: what was asked, what is predicted and on what evidence, what every role is told, and
// the files with their SHA-256 (docs/formats/plan.md). Nothing of the clock or the machine: equal
// plans are equal bytes.
#pragma once

#include "base/json.h"
#include "generate/target.h"

namespace setpoint::generate {

inline constexpr std::string_view kPlanFile = "plan.json";

base::Json settings_json(const Settings& settings);
base::Json plan_json(const Plan& plan, const Files& others);

}  // namespace setpoint::generate
