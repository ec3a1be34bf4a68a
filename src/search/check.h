// SPDX-License-Identifier: Apache-2.0
// Numbers that no deployment can have are refused before anything is loaded.
#pragma once

#include "setpoint/result.h"
#include "setpoint/search.h"

namespace setpoint::search {

Result<void> check(const Workload& workload);
Result<void> check(const Sla& sla);
Result<void> check(const SearchRequest& request);

}  // namespace setpoint::search
