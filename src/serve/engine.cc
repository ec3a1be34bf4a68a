// SPDX-License-Identifier: Apache-2.0
#include "serve/engine.h"

#include <algorithm>

namespace setpoint::serve {

Pipeline pipeline(const Engine& engine, std::int64_t batch) {
  Pipeline p;
  const std::int64_t stages = std::max(engine.shard.pp, 1);
  p.waves = static_cast<double>(std::clamp<std::int64_t>(batch, 1, stages));
  p.micro = static_cast<double>(batch) / p.waves;
  const std::int64_t layers = engine.plan.layers;
  if (layers > 0) {
    const std::int64_t fullest = (layers + stages - 1) / stages;
    p.imbalance = static_cast<double>(fullest * stages) / static_cast<double>(layers);
  }
  return p;
}

}  // namespace setpoint::serve
