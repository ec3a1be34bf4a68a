// SPDX-License-Identifier: Apache-2.0
// What differs between two sets of final values, in canonical form: every parameter and the whole
// environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipe/final_values.h"

namespace setpoint::recipe {

struct Difference {
  std::string name;  // "model.tp_comm_overlap", "env.NCCL_ALGO"
  // Nothing: not stated there; null is a value of its own.
  std::optional<base::Json> base, candidate;
  bool operator==(const Difference&) const = default;
};

// Sorted by name, parameters before the environment. Where both sides know the content of a path
// that names data or a checkpoint, the content is compared and not the path.
std::vector<Difference> diff(const FinalValues& base, const FinalValues& candidate);

}  // namespace setpoint::recipe
