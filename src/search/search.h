// SPDX-License-Identifier: Apache-2.0
// From a question to ranked configurations: load once, evaluate every layout, keep the exact front.
#pragma once

#include "setpoint/result.h"
#include "setpoint/search.h"

namespace setpoint::search {

// Errors are bad input or a failed environment. "Nothing meets the SLA" is an answer.
Result<SearchResult> search(const SearchRequest& request);

}  // namespace setpoint::search
