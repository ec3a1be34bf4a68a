// SPDX-License-Identifier: Apache-2.0
#include "serve/memory.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "serve/engine.h"

namespace setpoint::serve {
namespace {

constexpr double kBf16Bytes = 2;
// Searches over batch and length end here; more than any pool holds.
constexpr std::int64_t kMostBatch = std::int64_t{1} << 24;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 32;

// Saturates far above any memory, so that absurd batches and lengths stay comparable.
Bytes to_bytes(double value) {
  constexpr double kMost = 1e18;
  return Bytes(std::llround(std::clamp(value, -kMost, kMost)));
}
double d(std::int64_t value) { return static_cast<double>(value); }

// Tokens that the activations of the largest step are made for.
double step_tokens(const Engine& engine, const MemoryQuestion& q) {
  const double decodes =
      q.role == Role::prefill ? 0 : pipeline(engine, d(q.batch)).micro * (q.nextn + 1);
  const double prompts = q.role == Role::decode ? 0 : d(q.step_tokens);
  const double built = q.role == Role::mixed ? d(engine.framework.memory.activation_tokens) : 0;
  return std::max(prompts + decodes, built);
}

// Buffers of permuted tokens around the experts, for models with latent attention: the tokens of
// all attention ranks, topk copies, spread over the expert ranks.
double workspace_bytes(const Engine& engine, double tokens) {
  const framework::Memory& m = engine.framework.memory;
  double most = 0;
  for (const model::LayerGroup& group : engine.model->layers) {
    if (!group.ffn.moe || group.attention.kind != model::AttentionKind::mla) continue;
    const double copies = tokens * engine.shard.dp * d(group.ffn.topk) / engine.shard.moe_ep;
    most = std::max(most, copies * d(engine.model->hidden) * m.workspace_bytes *
                              d(group.ffn.experts) / m.workspace_experts);
  }
  return most;
}

Bytes activations(const Engine& engine, const MemoryQuestion& q) {
  const framework::Memory& m = engine.framework.memory;
  const double tokens = step_tokens(engine, q);
  const double residual = kBf16Bytes * tokens * engine.plan.activation_width *
                          m.activation(engine.model->is_moe(), engine.shard.tp);
  const double sum = residual + workspace_bytes(engine, tokens);
  return to_bytes(std::max(sum, d(m.activation_floor.value())) * m.activation_factor);
}

// GPUs that share one stage of a worker.
int stage_width(const model::Shard& shard) { return shard.tp * shard.dp * shard.cp; }

// Buffers of the smallest measured group that is not smaller, of the largest beyond.
Bytes collective_memory(const Engine& engine) {
  const auto& by_ranks = engine.system.collective_memory;
  const int ranks = stage_width(engine.shard);
  if (ranks <= 1 || by_ranks.empty()) return {};
  const auto found = by_ranks.lower_bound(ranks);
  return found == by_ranks.end() ? by_ranks.rbegin()->second : found->second;
}

double memory_fraction(const Engine& engine) {
  if (engine.pins.memory_fraction) return *engine.pins.memory_fraction;
  const model::Shard& s = engine.shard;
  return engine.framework.memory_fraction(
      {engine.system.gpu.memory, engine.system.gpu.sm, stage_width(s), s.pp, s.dp});
}

// Largest n in [0, most] for which `holds`, given that it holds up to some n and never after.
template <class Holds>
std::int64_t largest(std::int64_t most, Holds&& holds) {
  std::int64_t low = 0, high = 1;
  while (high <= most && holds(high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, most + 1);
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

std::int64_t whole_blocks(const Engine& engine, std::int64_t tokens) {
  const std::int64_t block = std::max<std::int64_t>(engine.framework.memory.kv_block_tokens, 1);
  return (tokens + block - 1) / block * block;
}

// What a share of the total covers besides the pool.
double beside_pool(const framework::Memory& m, const MemoryUse& use) {
  const bool all = m.pool == framework::KvPool::share_of_total;
  return d((use.total() - use.kv - (all ? Bytes(0) : use.activations)).value());
}

}  // namespace

Bytes kv_bytes(const Engine& engine, std::int64_t tokens) {
  return to_bytes(engine.plan.kv.bytes(d(whole_blocks(engine, tokens))));
}

MemoryUse memory_use(const Engine& engine, const MemoryQuestion& q) {
  MemoryUse use;
  use.weights = engine.plan.weights;
  use.activations = activations(engine, q);
  use.kv = to_bytes(d(q.batch) * d(kv_bytes(engine, q.kv_tokens).value()));
  use.collective = collective_memory(engine);
  use.context =
      to_bytes(d(engine.system.context_memory.value()) * engine.framework.memory.context_factor);
  use.capacity = engine.system.gpu.memory;
  return use;
}

Bytes kv_budget(const framework::Memory& m, const MemoryUse& use, double share) {
  const double capacity = d(use.capacity.value());
  const double others = d((use.total() - use.kv).value());
  const double pool = m.pool == framework::KvPool::share_of_free
                          ? (capacity - others) * share
                          : capacity * share - beside_pool(m, use);
  return to_bytes(std::min(pool * m.pool_efficiency, capacity - others));
}

Bytes kv_budget(const Engine& engine, const MemoryUse& use) {
  return kv_budget(engine.framework.memory, use, memory_fraction(engine));
}

double share_for(const framework::Memory& m, const MemoryUse& use, double kv_bytes) {
  const double capacity = d(use.capacity.value());
  if (m.pool != framework::KvPool::share_of_free) {
    return (beside_pool(m, use) + kv_bytes) / capacity;
  }
  const double free = capacity - d((use.total() - use.kv).value());
  return free > 0 ? kv_bytes / free : std::numeric_limits<double>::infinity();
}

std::int64_t pool_tokens(const Engine& engine, const MemoryUse& use) {
  if (engine.pins.pool_tokens) return *engine.pins.pool_tokens;
  const double per_token = engine.plan.kv.bytes_per_token();
  const double budget = d(kv_budget(engine, use).value());
  if (budget <= 0 || per_token <= 0) return 0;
  return static_cast<std::int64_t>(budget / per_token);
}

bool fits(const Engine& engine, const MemoryUse& use, const MemoryQuestion& q) {
  if (use.total() - use.kv > use.capacity) return false;
  if (engine.pins.pool_tokens) {
    return d(q.batch) * d(whole_blocks(engine, q.kv_tokens)) <= d(*engine.pins.pool_tokens);
  }
  return use.kv <= kv_budget(engine, use);
}

std::int64_t largest_batch(const Engine& engine, MemoryQuestion q) {
  return largest(kMostBatch, [&](std::int64_t batch) {
    q.batch = batch;
    return fits(engine, memory_use(engine, q), q);
  });
}

std::int64_t longest_request(const Engine& engine, MemoryQuestion q) {
  return largest(kMostTokens, [&](std::int64_t tokens) {
    q.kv_tokens = tokens;
    return fits(engine, memory_use(engine, q), q);
  });
}

}  // namespace setpoint::serve
