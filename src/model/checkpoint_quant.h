// SPDX-License-Identifier: Apache-2.0
// Number formats of a checkpoint from its own description: quantization_config in config.json and
// hf_quant_config.json beside it. Excluded modules stay in 16 bits. A KV format is set only if the
// checkpoint names one.
#pragma once

#include <optional>

#include "base/json.h"
#include "setpoint/model.h"

namespace setpoint::model {

// `in_config`: the quantization_config object; `hf`: the whole hf_quant_config.json, which wins.
// `spec` has its layers already (patterns are tried on the names of a layer that has the part).
Result<CheckpointQuant> read_quant(const std::optional<base::JsonView>& in_config,
                                   const std::optional<base::JsonView>& hf, const ModelSpec& spec);

}  // namespace setpoint::model
