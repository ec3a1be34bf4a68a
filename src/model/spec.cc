// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "model/weights.h"
#include "setpoint/model.h"

namespace setpoint::model {

std::int64_t ModelSpec::layer_count() const {
  std::int64_t count = 0;
  for (const LayerGroup& group : layers) count += group.count;
  return count;
}

bool ModelSpec::is_moe() const {
  return std::any_of(layers.begin(), layers.end(), [](const auto& g) { return g.ffn.moe; });
}

std::int64_t ModelSpec::parameters() const {
  const auto table = static_cast<double>(vocab) * static_cast<double>(hidden);
  const double final_norm = static_cast<double>(hidden) * (layers.back().norm_bias ? 2 : 1);
  double sum = table * (tied_embeddings ? 1 : 2) + final_norm;
  for (const LayerGroup& group : layers) {
    sum += static_cast<double>(group.count) * elements(layer_tensors(group, hidden, Shard{}));
  }
  return std::llround(sum);
}

}  // namespace setpoint::model
