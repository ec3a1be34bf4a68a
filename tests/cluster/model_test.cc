// SPDX-License-Identifier: Apache-2.0
// Size and work of the shipped models against published totals, and layouts against what
// Megatron-core accepts.
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "cluster/sim/step_time.h"

namespace setpoint::cluster {
namespace {

TrainModel shipped(const std::string& name) {
  const auto values = shipped_model(name);
  EXPECT_TRUE(values.ok());
  const auto model = read_train_model(values.value());
  EXPECT_TRUE(model.ok()) << model.error().text;
  return model.value();
}

TEST(TrainModel, HasThePublishedNumberOfWeights) {
  const auto text = base::embedded_file("recipes/train/models.json");
  ASSERT_TRUE(text);
  const auto json = base::parse_json(*text, "models.json");
  int published = 0;
  for (const auto& [name, entry] : json.value().items()) {
    if (!entry.contains("published_params")) continue;
    ++published;
    const double stated = entry["published_params"];
    EXPECT_NEAR(shipped(name).total_weights() / stated, 1.0, 0.01) << name;
  }
  EXPECT_EQ(published, 10);
}

TEST(TrainModel, CountsTheWorkOfATokenAsByHand) {
  // Llama-3 8B, 8192 tokens: 32 layers of 2*4096*4096 + 2*4096*1024 + 3*4096*14336 weights and a
  // head of 128256 x 4096, six times; attention 6 * 32 * 32 * 256 * 4096.
  EXPECT_DOUBLE_EQ(shipped("llama3_8b").flops_per_token(8192),
                   6.0 * (32 * 218103808.0 + 525336576.0) + 6442450944.0);
}

TEST(TrainModel, NamesWhatIsMissingOrContradictory) {
  auto values = shipped_model("llama3_8b").value();
  values.parameters.erase("model.hidden_size");
  EXPECT_NE(read_train_model(values).error().text.find("hidden_size"), std::string::npos);
  auto hybrid = shipped_model("nemotron3_nano").value();
  hybrid.parameters["model.num_layers"] = 51;
  EXPECT_NE(read_train_model(hybrid).error().text.find("52 layers"), std::string::npos);
  EXPECT_NE(shipped_model("llama3_9b").error().text.find("llama3_8b"), std::string::npos);
}

Result<Layout> layout(const std::string& name, std::int64_t gpus,
                      const std::map<std::string, base::Json>& settings) {
  auto values = shipped_model(name).value();
  values.parameters["model.seq_length"] = 4096;
  for (const auto& [key, value] : settings) values.parameters[key] = value;
  return read_layout(values, read_train_model(values).value(), gpus);
}

TEST(Layout, DerivesReplicasAndMicroBatches) {
  const auto at = layout("glm45_355b", 128,
                         {{"model.tensor_model_parallel_size", 2},
                          {"model.pipeline_model_parallel_size", 8},
                          {"model.num_layers_in_first_pipeline_stage", 10},
                          {"model.num_layers_in_last_pipeline_stage", 10},
                          {"model.expert_model_parallel_size", 16},
                          {"model.expert_tensor_parallel_size", 1},
                          {"train.global_batch_size", 2048},
                          {"train.micro_batch_size", 1}});
  ASSERT_TRUE(at.ok()) << at.error().text;
  EXPECT_EQ(at.value().dp, 8);
  EXPECT_EQ(at.value().edp, 1);
  EXPECT_EQ(at.value().micro_batches, 256);
  EXPECT_EQ(at.value().stages[1].layers.size(), 12U);
  EXPECT_EQ(at.value().stages[7].layers.size(), 10U);
}

TEST(Layout, ReadsALayoutText) {
  const auto at = layout("deepseek_v3", 256,
                         {{"model.pipeline_model_parallel_size", 4},
                          {"model.pipeline_model_parallel_layout", "Et*4|(t*4|)*14tmL"},
                          {"model.expert_model_parallel_size", 64},
                          {"model.expert_tensor_parallel_size", 1},
                          {"train.global_batch_size", 4096},
                          {"train.micro_batch_size", 1}});
  ASSERT_TRUE(at.ok()) << at.error().text;
  EXPECT_EQ(at.value().vpp, 4);
  EXPECT_EQ(at.value().stages[0].layers.size(), 16U);
  EXPECT_EQ(at.value().stages[3].layers.size(), 13U);
  EXPECT_EQ(at.value().stages[3].mtp, 1);
}

TEST(Layout, RefusesWhatMegatronRefuses) {
  const auto refused = [](const std::map<std::string, base::Json>& settings) {
    const auto at = layout("llama3_8b", 16, settings);
    return at.ok() ? "" : at.error().text;
  };
  EXPECT_NE(refused({{"model.tensor_model_parallel_size", 3}}).find("world size"),
            std::string::npos);
  EXPECT_NE(refused({{"model.pipeline_model_parallel_size", 16},
                     {"model.num_layers_in_first_pipeline_stage", 5}})
                .find("not divisible"),
            std::string::npos);
  EXPECT_NE(refused({{"train.global_batch_size", 12}}).find("global batch"), std::string::npos);
  EXPECT_NE(refused({{"model.virtual_pipeline_model_parallel_size", 2}}).find("virtual"),
            std::string::npos);
  EXPECT_EQ(refused({}), "");
}

TEST(Memory, OfAdamInMixedPrecisionIsEighteenBytesPerWeight) {
  auto values = shipped_model("llama3_8b").value();
  values.parameters["model.seq_length"] = 4096;
  const TrainModel model = read_train_model(values).value();
  const Layout at = read_layout(values, model, 1).value();
  const Machine machine{hw::find_system("h100_sxm").value(), {}};
  const MemoryTerms terms = memory(model, at, machine);
  const double weights = model.total_weights();
  EXPECT_NEAR(terms.weights + terms.gradients + terms.optimizer, 18 * weights, 1e-6 * weights);
}

}  // namespace
}  // namespace setpoint::cluster
