// SPDX-License-Identifier: Apache-2.0
// The flags that search, estimate and support share: model, GPU, framework, requests, data.
#pragma once

#include <string>
#include <vector>

#include "cli/flags.h"
#include "search/estimate.h"
#include "setpoint/result.h"
#include "setpoint/search.h"

namespace setpoint::cli {

// Ranges wide enough for anything that is built, narrow enough to keep sums of products finite.
inline constexpr Integers kTokens{1, 100'000'000};
inline constexpr Integers kCounts{1, 10'000'000};  // batches, requests in flight
inline constexpr Integers kWidths{1, 1024};        // GPUs and cuts
inline constexpr Numbers kMilliseconds{0.001, 1e9};

struct SubjectFlags {
  search::Subject subject;
  std::string framework, data = "hybrid", database, decode_system;
  std::vector<std::string> quant;

  // `framework`: the value that stands when the flag is not given; "all" allows it.
  void declare(Flags& flags, const std::string& framework);
  // After parsing: the subject with everything that came as text.
  Result<search::Subject> resolve() const;
};

// Of the shared inputs, by JSON name, those that were not given.
std::vector<std::string> assumed(const Flags& flags);

// "tp=2,dp=2,ep=4,batch=96,workers=1"
Result<search::WorkerSpec> parse_worker(const std::string& flag, const std::string& text);

}  // namespace setpoint::cli
