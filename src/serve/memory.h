// SPDX-License-Identifier: Apache-2.0
// Does it fit? Memory of the fullest GPU of a worker, the KV pool that its engine would make, and
// the largest batch or length that the pool holds, solved. One engine has one budget, whatever
// asks.
#pragma once

#include <cstdint>

#include "framework/framework.h"
#include "setpoint/estimate.h"

namespace setpoint::serve {

struct Engine;

struct MemoryQuestion {
  Role role = Role::mixed;
  std::int64_t batch = 1;        // requests per rank
  std::int64_t step_tokens = 0;  // most prompt tokens in one step, per rank
  std::int64_t kv_tokens = 0;    // tokens a request holds at its longest (isl + osl, or isl)
  int nextn = 0;
};

// Activations are those of the largest step: prompt tokens once, decode tokens times draft + 1; an
// engine built for a token limit reserves that limit.
MemoryUse memory_use(const Engine& engine, const MemoryQuestion& q);
// KV of one request of this many tokens on the fullest GPU, whole blocks.
Bytes kv_bytes(const Engine& engine, std::int64_t tokens);
// Bytes the KV pool may take beside weights, activations and reserve; <= 0: the model does not fit.
Bytes kv_budget(const Engine& engine, const MemoryUse& use);
// The same under a share of memory as the framework's own flag counts it.
Bytes kv_budget(const framework::Memory& memory, const MemoryUse& use, double share);
// The share under which this much is set aside for KV; above 1 where it cannot be.
double share_for(const framework::Memory& memory, const MemoryUse& use, double kv_bytes);
// Tokens the pool of one rank holds, in sequences shorter than every attention window.
std::int64_t pool_tokens(const Engine& engine, const MemoryUse& use);
// Whether use.kv fits the pool, and the GPU holds everything.
bool fits(const Engine& engine, const MemoryUse& use, const MemoryQuestion& q);
// Largest batch per rank whose KV fits, solved; 0 = not even one request or the model does not fit.
std::int64_t largest_batch(const Engine& engine, MemoryQuestion q);
// Longest request, in tokens, of which q.batch fit at once; 0 = none.
std::int64_t longest_request(const Engine& engine, MemoryQuestion q);

}  // namespace setpoint::serve
