// SPDX-License-Identifier: Apache-2.0
// What ATTUNE's campaigns found, on the shipped recipes: the simulated cluster rewards the same
// changes, and the shipped recipes run at all.
#include <fmt/format.h>

#include "shipped_recipe.h"

namespace setpoint::cluster {
namespace {

TEST(Lessons, Glm45GainsFromAnExpertGroupInsideOneNodeAndFromNoTensorParallelism) {
  const Settings inside{{"model.expert_model_parallel_size", 8}};
  Settings alone = inside;
  alone["model.tensor_model_parallel_size"] = 1;
  alone["model.sequence_parallel"] = false;
  const Computed base = computed("glm-4.5-b200");
  const Computed grouped = computed("glm-4.5-b200", inside);
  const Computed best = computed("glm-4.5-b200", alone);
  fmt::print("GLM-4.5: {:.0f}, one node {:.0f}, and TP 1 {:.0f} tokens/s/GPU ({:+.0f} %)\n",
             base.tokens_per_s, grouped.tokens_per_s, best.tokens_per_s,
             100 * (best.tokens_per_s / base.tokens_per_s - 1));
  EXPECT_GT(grouped.tokens_per_s, 1.2 * base.tokens_per_s);
  EXPECT_GT(best.tokens_per_s, 1.03 * grouped.tokens_per_s);
  EXPECT_GT(base.terms.ep, 3 * best.terms.ep);
  EXPECT_LT(best.memory_share, 0.96);  // it fits for certain
}

TEST(Lessons, MiniMaxM2GainsFromItsOptimizerOnTheGpuWithAnotherPipelineSplit) {
  const Settings off{{"optimizer.optimizer_cpu_offload", false}};
  Settings split = off;
  split["model.num_layers_in_first_pipeline_stage"] = 8;
  split["model.num_layers_in_last_pipeline_stage"] = 6;
  const Computed base = computed("minimax-m2-b200");
  const Computed on_gpu = computed("minimax-m2-b200", off);
  const Computed best = computed("minimax-m2-b200", split);
  fmt::print(
      "MiniMax-M2: {:.0f}, offload off {:.0f}, another split {:.0f} tokens/s/GPU ({:+.0f} %)\n",
      base.tokens_per_s, on_gpu.tokens_per_s, best.tokens_per_s,
      100 * (best.tokens_per_s / base.tokens_per_s - 1));
  EXPECT_GT(on_gpu.tokens_per_s, 1.3 * base.tokens_per_s);
  EXPECT_GT(best.tokens_per_s, 1.1 * on_gpu.tokens_per_s);
  EXPECT_LT(best.memory_share, 0.96);
}

TEST(Lessons, ShippedRecipesFitTheirMachines) {
  int recipes = 0;
  for (const std::string_view path : base::embedded_files("recipes/train/megatron-bridge/")) {
    std::string name(path.substr(path.rfind('/') + 1));
    name.resize(name.size() - std::string(".json").size());
    ++recipes;
    const Computed now = computed(name);
    EXPECT_GT(now.tokens_per_s, 100) << name;
    EXPECT_LT(now.memory_share, 0.96) << name;
  }
  EXPECT_GE(recipes, 7);
}

}  // namespace
}  // namespace setpoint::cluster
