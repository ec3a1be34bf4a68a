// SPDX-License-Identifier: Apache-2.0
// The shipped training recipes as the simulated cluster sees them.
#pragma once

#include <gtest/gtest.h>

#include "base/embedded.h"
#include "cluster/sim/step_time.h"
#include "recipe/recipe.h"

namespace setpoint::cluster {

inline recipe::Recipe shipped_recipe(const std::string& name) {
  const auto text = base::embedded_file("recipes/train/megatron-bridge/" + name + ".json");
  EXPECT_TRUE(text) << name;
  const auto recipe = recipe::parse_recipe(text.value_or(""), name);
  EXPECT_TRUE(recipe.ok()) << recipe.error().text;
  return recipe.value();
}

inline recipe::FinalValues final_values(const recipe::Recipe& recipe) {
  return {recipe.framework, recipe.version, recipe.settings, recipe.environment, {}};
}

using Settings = std::map<std::string, base::Json>;

// A shipped recipe with some settings changed, on the machine it names.
struct Computed {
  StepTerms terms;
  double tokens_per_s = 0;  // per GPU
  double memory_share = 0;  // of the GPU's
};
inline Computed computed(const std::string& name, const Settings& changed = {}) {
  const recipe::Recipe recipe = shipped_recipe(name);
  recipe::FinalValues values = final_values(recipe);
  for (const auto& [key, value] : changed) values.parameters[key] = value;
  const base::Json& cluster = recipe.document["cluster"];
  const Machine machine{hw::find_system(cluster["gpu"]).value(), {}};
  const TrainModel model = read_train_model(values).value();
  const auto layout = read_layout(values, model, cluster["gpus"]);
  EXPECT_TRUE(layout.ok()) << layout.error().text;
  if (!layout.ok()) return {};
  Computed out;
  out.terms = step_time(model, layout.value(), machine);
  out.tokens_per_s = tokens_per_s_per_gpu(layout.value(), out.terms.total());
  out.memory_share = memory(model, layout.value(), machine).total() /
                     static_cast<double>(machine.system.gpu.memory.value());
  return out;
}

}  // namespace setpoint::cluster
