// SPDX-License-Identifier: Apache-2.0
// What is asked of a deployment: lengths of one request, and the promise about its latency.
#pragma once

#include <cstdint>
#include <optional>

#include "setpoint/units.h"

namespace setpoint {

// One kind of request. Tokens, per request.
struct Workload {
  std::int64_t isl = 4000;    // input tokens, the cached prefix included
  std::int64_t osl = 1000;    // output tokens, the first one included
  std::int64_t prefix = 0;    // input tokens already in the KV cache, < isl
  int nextn = 0;              // draft tokens verified per decode step (speculative decoding)
  double nextn_accepted = 0;  // mean accepted drafts per step, 0..nextn
  // Output tokens a decode step yields per request.
  double tokens_per_step() const { return 1.0 + nextn_accepted; }
  std::int64_t new_tokens() const { return isl - prefix; }
  bool operator==(const Workload&) const = default;
};

// Bounds on mean latencies; a bound left out does not bind.
struct Sla {
  std::optional<Ms> ttft;             // time to first token
  std::optional<Ms> tpot;             // time per output token after the first
  std::optional<Ms> request_latency;  // whole request
  bool operator==(const Sla&) const = default;
};

}  // namespace setpoint
