// SPDX-License-Identifier: Apache-2.0
#include "search/pool.h"

#include <algorithm>
#include <cmath>

#include "search/grid.h"

namespace setpoint::search {
namespace {

// A partner that never limits, so that a pool's own losses show in what is left.
serve::Point boundless() {
  serve::Point point;
  point.requests_per_s = 1e12;
  return point;
}

PoolPoint pool_point(const serve::Point& p, std::int64_t batch, std::int64_t chunk) {
  return {.batch = static_cast<std::int32_t>(batch),
          .chunk = static_cast<std::int32_t>(chunk),
          .ttft_ms = p.ttft.value(),
          .tpot_ms = p.tpot.value(),
          .latency_ms = p.request_latency.value(),
          .requests_per_s = p.requests_per_s,
          .concurrency = p.concurrency};
}

// In deployment terms: what one worker contributes beside a partner that never limits.
PoolPoint priced(serve::Engine& engine, Use use, const Workload& w, std::int64_t batch,
                 std::int64_t chunk) {
  const serve::Point point = price(engine, use, w, batch, chunk);
  if (use == Use::prefill) {
    return pool_point(serve::disaggregated(point, 1, boundless(), 1, w), batch, chunk);
  }
  if (use == Use::decode) {
    return pool_point(serve::disaggregated(boundless(), 1, point, 1, w), batch, chunk);
  }
  return pool_point(point, batch, chunk);
}

std::vector<std::int64_t> batches(const serve::Engine& engine, Use use, const Workload& w,
                                  std::int64_t chunk) {
  if (use == Use::mixed || use == Use::decode) {
    return batch_grid(serve::largest_batch(engine, memory_question(use, w, 1, chunk)));
  }
  // Activations grow with the batch: walk up until one does not fit.
  std::vector<std::int64_t> out;
  for (std::int64_t b : use == Use::prefill ? prefill_batch_grid(w) : batch_grid(kMostBatch)) {
    if (!fits(engine, use, w, b, chunk)) break;
    out.push_back(b);
  }
  return out;
}

}  // namespace

Role role_of(Use use) {
  if (use == Use::prefill) return Role::prefill;
  return use == Use::decode ? Role::decode : Role::mixed;
}

serve::MemoryQuestion memory_question(Use use, const Workload& w, std::int64_t batch,
                                      std::int64_t chunk) {
  serve::MemoryQuestion q{.role = role_of(use),
                          .batch = batch,
                          .step_tokens = 0,
                          .kv_tokens = w.isl + w.osl,
                          .nextn = w.nextn};
  if (use == Use::mixed) q.step_tokens = chunk;
  if (use == Use::prefill) q.kv_tokens = w.isl;
  if (use == Use::prefill || use == Use::static_batch) q.step_tokens = batch * w.new_tokens();
  return q;
}

bool fits(const serve::Engine& engine, Use use, const Workload& w, std::int64_t batch,
          std::int64_t chunk) {
  const serve::MemoryQuestion question = memory_question(use, w, batch, chunk);
  return serve::fits(engine, serve::memory_use(engine, question), question);
}

std::int64_t step_token_limit(Use use, const Workload& w, std::int64_t batch, std::int64_t chunk) {
  const std::int64_t decoding = batch * (w.nextn + 1);
  if (use == Use::mixed) return chunk + decoding;
  return use == Use::decode ? decoding : batch * w.new_tokens();
}

std::int64_t chunk_of(const Workload& w, std::int64_t batch, std::int64_t step_tokens) {
  return std::max<std::int64_t>(1, step_tokens - batch * (w.nextn + 1));
}

serve::Point price(serve::Engine& engine, Use use, const Workload& w, std::int64_t batch,
                   std::int64_t chunk) {
  switch (use) {
    case Use::mixed:
      return serve::aggregated(engine, w, batch, chunk);
    case Use::prefill:
      return serve::prefill(engine, w, batch);
    case Use::decode:
      return serve::decode(engine, w, static_cast<double>(batch));
    case Use::static_batch:
      return serve::static_batch(engine, w, batch);
  }
  return {};
}

bool PoolPoint::finite() const {
  return std::isfinite(ttft_ms) && std::isfinite(tpot_ms) && std::isfinite(latency_ms) &&
         std::isfinite(requests_per_s) && requests_per_s > 0;
}

std::int64_t default_chunk(const serve::Engine& e) {
  return e.framework
      .limits({.memory = e.system.gpu.memory,
               .sm = e.system.gpu.sm,
               .width = e.shard.tp * e.shard.dp * e.shard.cp,
               .pp = e.shard.pp,
               .dp = e.shard.dp})
      .token_budget;
}

std::vector<PoolPoint> evaluate(serve::Engine& engine, Use use, const Workload& w) {
  std::vector<PoolPoint> out;
  std::vector<std::int64_t> chunks{0};
  if (use == Use::mixed) {
    chunks = chunk_grid(w, default_chunk(engine), engine.framework.scheduler.chunked_prefill);
  }
  for (std::int64_t chunk : chunks) {
    for (std::int64_t batch : batches(engine, use, w, chunk)) {
      if (use == Use::mixed && !chunk_is_distinct(chunk, batch, w)) continue;
      out.push_back(priced(engine, use, w, batch, chunk));
    }
  }
  return out;
}

Bucket judge(const Sla& sla, double ttft_ms, double tpot_ms, double latency_ms) {
  if (sla.ttft && !(ttft_ms <= sla.ttft->value())) return Bucket::ttft;
  if (sla.tpot && !(tpot_ms <= sla.tpot->value())) return Bucket::tpot;
  if (sla.request_latency && !(latency_ms <= sla.request_latency->value())) {
    return Bucket::request_latency;
  }
  return Bucket::met;
}

double distance(const Sla& sla, double ttft_ms, double tpot_ms, double latency_ms) {
  double worst = 0;
  if (sla.ttft) worst = std::max(worst, ttft_ms / sla.ttft->value());
  if (sla.tpot) worst = std::max(worst, tpot_ms / sla.tpot->value());
  if (sla.request_latency) worst = std::max(worst, latency_ms / sla.request_latency->value());
  return worst;
}

}  // namespace setpoint::search
