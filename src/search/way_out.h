// SPDX-License-Identifier: Apache-2.0
// For a model that does not fit: what would, by the same memory model.
#pragma once

#include <cstdint>
#include <string>

#include "search/backend.h"
#include "search/pool.h"

namespace setpoint::search {

// "; would fit: 4 GPUs (tp4), --precision fp8, ...": fewest GPUs, a smaller published checkpoint,
// an fp8 KV cache or a shorter request on `gpus` at most. Empty when none of them helps.
std::string ways_out(Loader& loader, const Subject& subject, const std::string& framework,
                     const std::string& system, Use use, std::int64_t gpus);

}  // namespace setpoint::search
