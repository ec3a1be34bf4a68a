// SPDX-License-Identifier: Apache-2.0
// The decode steps of one batch from its second to its last output token.
#pragma once

#include "serve/engine.h"

namespace setpoint::serve {

// Time of all decode steps of `requests` that run in step, by source: osl - 1 tokens each, one step
// yielding tokens_per_step(). The KV length grows token by token; attention is priced once per
// stride, at the middle of the stride, which is exact where time is linear in the length. (A price
// at a stride's start, as in the paper's listing, leaves half a stride of growth out.) A stride is
// 32 tokens, or a sixteenth of the output when that is more.
step::Evidence decode_sum(Engine& engine, const Workload& w, double requests);

}  // namespace setpoint::serve
