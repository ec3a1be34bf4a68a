// SPDX-License-Identifier: Apache-2.0
// Which layers each pipeline stage holds: an even split, uneven first and last stages, or a layout
// text of Megatron-core ("Et*4|(t*4|)*14tmL": embedding, transformer layers, prediction layer,
// loss; one part per virtual stage).
#pragma once

#include "cluster/sim/layout.h"

namespace setpoint::cluster {

Result<std::vector<Stage>> split_stages(const Params& params, const TrainModel& model,
                                        std::int64_t pp, std::int64_t& vpp);

}  // namespace setpoint::cluster
