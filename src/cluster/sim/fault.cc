// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/fault.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace setpoint::cluster {
namespace {

constexpr std::array kEffects{
    Effect{.name = "forward_scale",
           .what = "a residual branch has the wrong scale",
           .loss = 0.612,
           .random_loss = 3.3e-4,
           .token_correlation = 0.980,
           .token_shift = 2.0,
           .gradient = 4.9,
           .cosine = 0.48,
           .later = 0.6},
    Effect{.name = "forward_shard",
           .what = "one matrix holds another rank's shard",
           .loss = 0.369,
           .random_loss = 1.4e-4,
           .token_correlation = -0.04,
           .random_correlation = 0.003,
           .gradient = 1.34,
           .cosine = 0.01,
           .later = 0.40},
    Effect{.name = "label_shift",
           .what = "labels are shifted by one",
           .loss = 0.423,
           .random_loss = -3e-5,
           .token_correlation = 0.02,
           .random_correlation = -0.02,
           .gradient = 1.28,
           .cosine = 0.01,
           .later = 0.45},
    Effect{.name = "missing_sum",
           .what = "a group's gradient is not summed over ranks",
           .group = "mlp",
           .gradient = 2.0,
           .cosine = 0.356,
           .later = 8e-4,
           .replicas = true},
    Effect{.name = "half_sum",
           .what = "half of the ranks are left out of a group's sum",
           .group = "mlp",
           .gradient = 0.70,
           .cosine = 0.52,
           .later = 7e-4,
           .replicas = true},
    Effect{.name = "last_micro_batch",
           .what = "only the last micro-batch counts",
           .gradient = 0.49,
           .cosine = 0.33,
           .later = 5e-3},
    Effect{.name = "scaled_group",
           .what = "a group's gradient is halved",
           .group = "attention",
           .gradient = 0.5},
    Effect{.name = "partial_table",
           .what = "half of the embedding gets no gradient",
           .group = "embedding",
           .without = 0.5,
           .later = 5e-4},
    Effect{.name = "bf16_accumulation", .what = "gradients accumulate in BF16", .mantissa = 7},
    Effect{.name = "misplaced_layers",
           .what = "layers lie on the wrong pipeline stages",
           .loss = 3.5,
           .random_loss = 2e-4,
           .token_correlation = 0.05,
           .random_correlation = 0.01,
           .gradient = 3.0,
           .cosine = 0.02,
           .later = 3.5},
};

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Effect& effect : kEffects) out.emplace_back(effect.name);
  return out;
}

}  // namespace

std::span<const Effect> effects() { return kEffects; }

bool Fault::acts_on(const recipe::FinalValues& values) const {
  return std::all_of(when.begin(), when.end(), [&](const auto& condition) {
    const auto it = values.parameters.find(condition.first);
    return it != values.parameters.end() && it->second == condition.second;
  });
}

Result<Fault> read_fault(const base::JsonView& json) {
  SP_CHECK(json.only(std::array<std::string, 2>{"error", "when"}));
  SP_TRY(const base::JsonView error, json.at("error"));
  SP_TRY(const std::string name, error.string());
  Fault fault;
  for (const Effect& effect : kEffects) {
    if (effect.name == name) fault.effect = &effect;
  }
  if (fault.effect == nullptr) return error.error(base::unknown_name("error", name, names()));
  if (const auto when = json.find("when")) {
    for (const std::string& key : when->keys()) fault.when.emplace_back(key, when->json()[key]);
  }
  return fault;
}

}  // namespace setpoint::cluster
