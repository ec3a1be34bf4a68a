// SPDX-License-Identifier: Apache-2.0
// Short names of layouts for people.
#pragma once

#include <string>

#include "setpoint/estimate.h"

namespace setpoint::search {

// "tp4", "tp2pp2dp4ep8"; "mtp" is the cut of each expert where experts are also spread.
std::string label(const model::Shard& shard);
// "tp4", "3P tp2 + 1D tp4".
std::string label(const Estimate& estimate);

}  // namespace setpoint::search
