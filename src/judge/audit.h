// SPDX-License-Identifier: Apache-2.0
// Do the charges of a ledger follow from its allocations and releases? Computed anew from the
// events, apart from whoever wrote the charges.
#pragma once

#include <string>
#include <vector>

#include "ledger/state.h"

namespace setpoint::judge {

struct Discrepancy {
  std::string what;  // the allocation, or the trial that has none
  GpuHours charged{}, due{};
};
// Allocations that still hold GPUs, or whose trials are not all charged yet, are left out.
std::vector<Discrepancy> audit(const ledger::CampaignState& state);

}  // namespace setpoint::judge
