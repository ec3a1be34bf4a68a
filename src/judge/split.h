// SPDX-License-Identifier: Apache-2.0
// Which pipeline stage owns which layer, by both rules that a framework version uses: the one that
// builds a stage's layers and the one that numbers them. Where the two maps differ, layers are
// missing, doubled or loaded from the wrong place, and nothing but the loss would tell. Rules of
// megatron-core: transformer_block.py:get_num_layers_to_build,
// transformer_layer.py:get_transformer_layer_offset, ssm/mamba_block.py (before 0.16 the hybrid
// stack split evenly and ignored first and last counts, pull request 3399).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recipe/final_values.h"

namespace setpoint::judge {

struct SplitCheck {
  enum class State : std::uint8_t { complete, broken, unknown, not_stated };
  State state = State::not_stated;
  std::string reason;
  // Stage of each layer by both rules; shorter than the layer count where layers are left over.
  std::vector<int> built, numbered;
};

// From the names of megatron-core or Megatron-Bridge ("model." before them). `core_version`: of
// megatron-core, "" = unknown, which leaves an uneven hybrid split unknown.
SplitCheck check_split(const recipe::FinalValues& values, const std::string& core_version);

}  // namespace setpoint::judge
