// SPDX-License-Identifier: Apache-2.0
// What must hold before a launch file is written, whatever the engine: a layout that its GPUs and
// nodes can carry, a checkpoint that can be served as it was priced, names that files can hold.
#pragma once

#include "generate/settings.h"

namespace setpoint::generate {

// Errors name the option.
Result<void> check_options(const Options& options);
// Errors name the role's field: `decode.tp: ...`. Code `no` where the engine cannot run the layout.
Result<void> check_layout(const Settings& settings, const RoleSettings& role,
                          const framework::Facts& facts);
// All workers within the GPUs that were asked for.
Result<void> check_budget(const Settings& settings, std::int64_t gpus_asked);
// Whether `worker` is served from the checkpoint as it is, or (true) made fp8 while loading; an
// error where neither gives the formats that were priced.
Result<bool> online_fp8(const Deployment& deployment, const Options& options, const Worker& worker,
                        const framework::Facts& facts);

}  // namespace setpoint::generate
