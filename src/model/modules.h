// SPDX-License-Identifier: Apache-2.0
// Does a checkpoint's exclusion list name this module? Three dialects are published: plain names
// ("lm_head", "model.layers.3.mlp.gate"), wildcards ("model.layers.*.self_attn*") and regular
// expressions ("re:.*self_attn.*").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/weights.h"
#include "setpoint/model.h"

namespace setpoint::model {

bool module_matches(const std::string& pattern, std::string_view module);

// Full names that the weights of a part go by in published checkpoints, for one layer (the head
// belongs to none).
std::vector<std::string> module_names(Part part, std::int64_t layer);

bool any_matches(const std::vector<std::string>& patterns, const std::vector<std::string>& modules);

}  // namespace setpoint::model
