// SPDX-License-Identifier: Apache-2.0
#include "serve/engine.h"

#include <algorithm>

namespace setpoint::serve {

Pipeline pipeline(const Engine& engine, double batch) {
  Pipeline p;
  const std::int64_t stages = std::max(engine.shard.pp, 1);
  p.waves = std::clamp(batch, 1.0, static_cast<double>(stages));
  p.micro = batch / p.waves;
  const std::int64_t layers = engine.plan.layers;
  if (layers > 0) {
    const std::int64_t fullest = (layers + stages - 1) / stages;
    p.imbalance = static_cast<double>(fullest * stages) / static_cast<double>(layers);
  }
  return p;
}

}  // namespace setpoint::serve
