// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "generate/target.h"

namespace setpoint::generate {
namespace {

constexpr std::array kTargets{
    TargetRow{Target::run, &run_files},
    TargetRow{Target::compose, &compose_files, false, true},
    TargetRow{Target::k8s, &k8s_files},
    TargetRow{Target::dynamo, &dynamo_files, true},
    TargetRow{Target::llm_d, &llm_d_files, true},
    TargetRow{Target::slurm, &slurm_files},
};

}  // namespace

std::span<const TargetRow> targets() { return kTargets; }

std::optional<Target> target_named(std::string_view name) {
  const auto* found = std::find(kTargetNames.begin(), kTargetNames.end(), name);
  if (found == kTargetNames.end()) return std::nullopt;
  return static_cast<Target>(found - kTargetNames.begin());
}

}  // namespace setpoint::generate
