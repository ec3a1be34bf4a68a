// SPDX-License-Identifier: Apache-2.0
// One configuration for people: speed, what it rests on, memory part by part; when asked, every
// operator's time; when it cannot run, why and what would.
#pragma once

#include <string>

#include "report/json.h"
#include "report/screen.h"
#include "search/estimate.h"

namespace setpoint::report {

std::string estimate_text(const Screen& screen, const search::EstimateRequest& request,
                          const Assumed& assumed, const search::EstimateAnswer& answer);

}  // namespace setpoint::report
