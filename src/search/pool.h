// SPDX-License-Identifier: Apache-2.0
// One worker's operating points: which batches and chunks fit, and what each yields. Search and
// estimate price a point by the same functions, so their digits agree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "search/bucket.h"
#include "serve/engine.h"
#include "setpoint/workload.h"

namespace setpoint::search {

// What a worker does with its requests.
enum class Use : std::uint8_t { mixed, prefill, decode, static_batch };

Role role_of(Use use);

// The memory question of one point. `chunk` counts only for mixed workers.
serve::MemoryQuestion memory_question(Use use, const Workload& w, std::int64_t batch,
                                      std::int64_t chunk);
bool fits(const serve::Engine& engine, Use use, const Workload& w, std::int64_t batch,
          std::int64_t chunk);

// Tokens of one engine step and rank at most: the prompts' budget and a token (with drafts) for
// each decoding request. The inverse of `chunk_of`.
std::int64_t step_token_limit(Use use, const Workload& w, std::int64_t batch, std::int64_t chunk);
std::int64_t chunk_of(const Workload& w, std::int64_t batch, std::int64_t step_tokens);

// The engine's own budget of prompt tokens when nobody sets one.
std::int64_t default_chunk(const serve::Engine& engine);

// Rates are of one worker. A pool's losses (waiting, hand-over) are in its rate and its TTFT.
serve::Point price(serve::Engine& engine, Use use, const Workload& w, std::int64_t batch,
                   std::int64_t chunk);

struct PoolPoint {
  std::int32_t batch = 0, chunk = 0;
  double ttft_ms = 0, tpot_ms = 0, latency_ms = 0;
  double requests_per_s = 0, concurrency = 0;
  bool finite() const;
};

// Every point of the grid that fits, by chunk then batch.
std::vector<PoolPoint> evaluate(serve::Engine& engine, Use use, const Workload& w);

// The first bound that the latencies break, in the order ttft, tpot, request latency.
Bucket judge(const Sla& sla, double ttft_ms, double tpot_ms, double latency_ms);
// How far off the worst bound is: 1 = on it, 2 = twice the bound. 0 without bounds.
double distance(const Sla& sla, double ttft_ms, double tpot_ms, double latency_ms);

// The least of each latency over all points, bounds or not.
struct Reach {
  double ttft_ms = std::numeric_limits<double>::infinity();
  double tpot_ms = ttft_ms, latency_ms = ttft_ms;
  void add(double ttft, double tpot, double latency) {
    ttft_ms = std::min(ttft_ms, ttft);
    tpot_ms = std::min(tpot_ms, tpot);
    latency_ms = std::min(latency_ms, latency);
  }
  void add(const Reach& o) { add(o.ttft_ms, o.tpot_ms, o.latency_ms); }
};

}  // namespace setpoint::search
