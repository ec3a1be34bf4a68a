// SPDX-License-Identifier: Apache-2.0
// Answers as JSON for scripts. Keys are a promise: docs/cli.md lists them; they may be added to,
// never renamed. Numbers are unrounded, so that a row given back to `estimate` yields them again.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "search/estimate.h"
#include "setpoint/search.h"

namespace setpoint::report {

// Input names (as in JSON) that the user did not give: the answer rests on their defaults.
using Assumed = std::vector<std::string>;

base::Json worker_json(const Worker& worker);  // WORKER
// What was asked about and what it was resolved to.
base::Json subject_json(const search::Subject& subject, const search::Resolved& resolved);
base::Json config_json(const Estimate& estimate);  // CONFIG
base::Json search_json(const search::SearchRequest& request, const Assumed& assumed,
                       const search::SearchResult& result);
// CONFIG (with the breakdown when asked), or what was refused and why.
base::Json answer_json(const search::EstimateAnswer& answer);
base::Json estimate_json(const search::EstimateRequest& request, const Assumed& assumed,
                         const search::EstimateAnswer& answer);

}  // namespace setpoint::report
