// SPDX-License-Identifier: Apache-2.0
// One kind of worker, ready to be asked: its plan bound to the database, the framework's facts and
// the GPU. The serving formulas below are pure functions of an Engine, a workload and a batch.
#pragma once

#include <optional>
#include <string>

#include "framework/framework.h"
#include "hw/system.h"
#include "model/plan.h"
#include "serve/step_cache.h"
#include "setpoint/estimate.h"
#include "setpoint/workload.h"
#include "step/step.h"

namespace setpoint::serve {

struct Engine {
  const model::ModelSpec* model = nullptr;
  model::Shard shard;
  model::Precision precision;
  framework::Facts framework;
  hw::System system;
  model::Plan plan;
  StepCache steps;  // memoised step times of the bound plan; one Engine belongs to one thread
};

// --- memory (src/serve/memory.cc) ----------------------------------------------------------------
struct MemoryQuestion {
  Role role = Role::mixed;
  std::int64_t batch = 1;        // requests per rank
  std::int64_t step_tokens = 0;  // most prompt tokens in one step, per rank
  std::int64_t kv_tokens = 0;    // tokens a request holds at its longest (isl + osl, or isl)
  int nextn = 0;
};
MemoryUse memory_use(const Engine& engine, const MemoryQuestion& q);
// Bytes the KV pool may take beside weights, activations and reserve; <= 0: the model does not fit.
Bytes kv_budget(const Engine& engine, const MemoryUse& use);
// Largest batch per rank whose KV fits, solved, 0 = not even one request or the model does not fit.
std::int64_t largest_batch(const Engine& engine, MemoryQuestion q);

// --- one operating point -------------------------------------------------------------------------
// Throughput and latencies of one worker. Rates are of the whole worker (all ranks and stages).
struct Point {
  Ms ttft{}, tpot{}, request_latency{};
  double requests_per_s = 0;
  double concurrency = 0;
  perfdb::Evidence evidence;
};

// Static batching, Algorithm 1 of AIConfigurator. batch per rank.
Point static_batch(Engine& engine, const Workload& w, std::int64_t batch);
// Continuous batching, Algorithm 2: batch per rank, `budget` prompt tokens per step.
Point aggregated(Engine& engine, const Workload& w, std::int64_t batch, std::int64_t budget);
// Algorithm 3, one side each: a prefill worker's rate and TTFT, a decode worker's rate and TPOT.
Point prefill(Engine& engine, const Workload& w, std::int64_t batch);
Point decode(Engine& engine, const Workload& w, std::int64_t batch);
// x prefill and y decode workers matched: the slower side sets the rate.
Point disaggregated(const Point& prefill, std::int64_t x, const Point& decode, std::int64_t y,
                    const Workload& w);

}  // namespace setpoint::serve
