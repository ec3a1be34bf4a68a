// SPDX-License-Identifier: Apache-2.0
// KV cache of one sequence on one GPU of the pipeline stage that holds most of it.
#pragma once

#include "model/plan.h"

namespace setpoint::model {

KvFootprint kv_footprint(const ModelSpec& model, const Shard& shard, ops::Quant format,
                         bool with_draft_layers);

}  // namespace setpoint::model
