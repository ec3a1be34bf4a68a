// SPDX-License-Identifier: Apache-2.0
// The flags that describe one configuration: of `estimate`, and of `generate` without a file.
#pragma once

#include "cli/subject_flags.h"
#include "search/estimate.h"

namespace setpoint::cli {

struct EstimateFlags {
  SubjectFlags shared;
  std::string mode = "agg", prefill, decode;
  search::EstimateRequest request;

  void declare(Flags& flags);
  // After parsing.
  Result<search::EstimateRequest> resolve() const;
};

}  // namespace setpoint::cli
