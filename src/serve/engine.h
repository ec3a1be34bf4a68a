// SPDX-License-Identifier: Apache-2.0
// One kind of worker, ready to be asked: its plan bound to the database, the framework's facts and
// the GPU. The serving formulas (memory.h, point.h) are pure functions of an Engine, a workload and
// a batch.
#pragma once

#include <cstdint>
#include <optional>

#include "framework/framework.h"
#include "hw/system.h"
#include "model/plan.h"
#include "serve/memory.h"
#include "serve/point.h"
#include "serve/step_cache.h"
#include "setpoint/model.h"

namespace setpoint::serve {

// What a user knows better than the engine's defaults.
struct Pins {
  std::optional<double> memory_fraction;    // instead of the engine's own share
  std::optional<std::int64_t> pool_tokens;  // KV tokens of one rank, as the engine reports them
};

struct Engine {
  const model::ModelSpec* model = nullptr;
  model::Shard shard;
  model::Precision precision;
  framework::Facts framework;
  hw::System system;
  model::Plan plan;
  StepCache steps;  // memoised step times of the bound plan; one Engine belongs to one thread
  Pins pins{};
};

// How a rank's batch goes through the pipeline stages: `waves` micro-batches of `micro` requests
// are under way at once, as many as there are stages to keep busy and requests to fill them.
// A step's time is the way through all stages; a wave leaves every time/waves, stretched by the
// imbalance of the fullest stage: ceil(layers / pp) layers against the mean. No other bubble is
// assumed: prefill and decode steps that alternate in a pipeline may cost more than this.
struct Pipeline {
  double waves = 1, micro = 1;
  double imbalance = 1;
  // Requests per second of a whole worker, when `requests` of one wave leave every `round`.
  double rate(double requests, Ms round, int dp) const {
    return waves * requests * dp * kMsPerS / (round.value() * imbalance);
  }
};
Pipeline pipeline(const Engine& engine, double batch);

}  // namespace setpoint::serve
