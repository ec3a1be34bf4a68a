// SPDX-License-Identifier: Apache-2.0
// From a result file (the document of `search --json` or `estimate --json`) to a Deployment. Of the
// file only the question is taken: the configuration is priced anew, so that an edited layout or
// batch is judged by the model and not believed.
#pragma once

#include <cstddef>
#include <optional>

#include "base/json.h"
#include "search/estimate.h"
#include "setpoint/generate.h"

namespace setpoint::generate {

// Which row of the file; without a mode the best one's.
struct Choice {
  std::optional<Mode> mode;
  std::size_t rank = 1;
};

// A row as the question it answers.
struct Saved {
  search::EstimateRequest request;
  base::Json config;  // the row itself
};
// Errors name the key. Unknown keys are errors: what a file says is used or refused.
Result<Saved> read_saved(const base::JsonView& document, const Choice& choice);

// Code `no` when it does not fit.
Result<Deployment> price(search::Estimator& estimator, const search::EstimateRequest& request);
// The same, with what the row states otherwise in `stated` and `notes`.
Result<Deployment> price(search::Estimator& estimator, const Saved& saved);

}  // namespace setpoint::generate
