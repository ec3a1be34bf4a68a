// SPDX-License-Identifier: Apache-2.0
// The same recipe does not run again because somebody hopes for better luck. "Same" is the
// effective hash: what finally takes effect, not how it was written.
#pragma once

#include <optional>
#include <string>

#include "ledger/state.h"

namespace setpoint::judge {

// Why a trial of this recipe is refused; nothing: it may run. A recipe that failed, was rejected or
// was scored is not new. What the cluster did to it is no failure: pre-empted or lost runs may be
// repeated, a run whose node failed (the health record proves it) once.
std::optional<std::string> repeat_refused(const ledger::CampaignState& state,
                                          const std::string& effective_hash);

}  // namespace setpoint::judge
