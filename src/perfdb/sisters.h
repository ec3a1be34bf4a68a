// SPDX-License-Identifier: Apache-2.0
// What may stand in for an operator whose own tables are silent, as other operators: the same work
// in another format or for a neighbouring shape.
#pragma once

#include <vector>

#include "ops/op.h"
#include "perfdb/tables.h"

namespace setpoint::perfdb {

// Formats of the same width on the same pipe: the same bytes move and the same unit multiplies.
std::vector<ops::Op> format_twins(const ops::Op& op);
// The same formats at the nearest collected shape key (attention: grouping, head width, window;
// latent-attention modules: heads of the whole model), nearest first. Scaled by the roofline.
Result<std::vector<ops::Op>> shape_sisters(const Tables& tables, const ops::Op& op);
// Attention with keys and values (and products) in bf16. Scaled by the roofline.
std::vector<ops::Op> wide_formats(const ops::Op& op);

}  // namespace setpoint::perfdb
