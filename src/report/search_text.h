// SPDX-License-Identifier: Apache-2.0
// A search's answer for people: what was asked as it was understood, the winner and why, the best
// of each mode, the trade-off as a plot, and what the answer rests on.
#pragma once

#include <string>
#include <vector>

#include "report/json.h"
#include "report/screen.h"
#include "setpoint/search.h"

namespace setpoint::report {

std::string search_text(const Screen& screen, const search::SearchRequest& request,
                        const Assumed& assumed, const search::SearchResult& result);

// The first lines of every answer: model, GPU, requests, data and formats, as resolved.
std::string subject_text(const Screen& screen, const search::Subject& subject,
                         const Assumed& assumed, const search::Resolved& resolved);

}  // namespace setpoint::report
