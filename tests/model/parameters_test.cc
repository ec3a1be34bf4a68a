// SPDX-License-Identifier: Apache-2.0
// Published sizes: parameter counts of the models' own cards and checkpoint indices.
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "model/read.h"

namespace setpoint::model {
namespace {

struct Published {
  const char* id;
  double parameters;
  double tolerance;  // relative; 0 = exact
};

constexpr double kRounded = 0.01;  // the card gives three digits

TEST(Parameters, ShippedModelsHaveTheirPublishedSize) {
  for (const Published& p : std::initializer_list<Published>{
           {"meta-llama/Meta-Llama-3.1-8B", 8030261248, 0},
           {"meta-llama/Meta-Llama-3.1-70B", 70553706496, 0},
           {"meta-llama/Meta-Llama-3.1-405B", 405853388800, 0},
           {"mistralai/Mixtral-8x7B-v0.1", 46702792704, 0},
           {"mistralai/Mixtral-8x22B-v0.1", 140620634112, kRounded},
           {"deepseek-ai/DeepSeek-V3", 671026419200, 0},
           {"moonshotai/Kimi-K2.5", 1.026e12, kRounded},
           {"openai/gpt-oss-120b", 116.83e9, 0.001},
           {"openai/gpt-oss-20b", 20.91e9, 0.001},
           {"Qwen/Qwen3-32B", 32762123264, 0},
           {"Qwen/Qwen3-8B", 8190735360, 0},
           {"Qwen/Qwen3-0.6B", 596049920, 0},
           {"Qwen/Qwen3-30B-A3B", 30532122624, 0},
           {"Qwen/Qwen3-235B-A22B", 235093634560, 0},
           {"Qwen/Qwen3-Coder-480B-A35B-Instruct", 480154875392, 0},
           {"MiniMaxAI/MiniMax-M2.5", 228.7e9, kRounded},
       }) {
    const auto spec = read_model(p.id, "", 90);
    ASSERT_TRUE(spec.ok()) << p.id << ": " << spec.error().text;
    EXPECT_NEAR(static_cast<double>(spec->parameters()) / p.parameters, 1,
                p.tolerance > 0 ? p.tolerance : 1e-12)
        << p.id << ": " << spec->parameters();
  }
}

// phi-2 and Phi-3.5-MoE have a bias on the head (their vocabulary's size), not counted here.
TEST(Parameters, ConfigsOfOtherFamiliesGiveTheirPublishedSize) {
  const auto text = base::read_file(SETPOINT_SOURCE_DIR "/tests/golden/published_sizes.json");
  const auto golden = base::parse_json(text.value(), "published_sizes.json").value();
  EXPECT_GE(golden["models"].size(), 35u);
  for (const auto& model : golden["models"]) {
    const std::string id = model["id"];
    const auto spec = read_config({id, model["config"].dump(), std::nullopt, id});
    ASSERT_TRUE(spec.ok()) << spec.error().text;
    const double tolerance = model["tolerance"];
    EXPECT_NEAR(static_cast<double>(spec->parameters()) / model["parameters"].get<double>(), 1,
                tolerance > 0 ? tolerance : 1e-12)
        << id << ": " << spec->parameters();
  }
}

TEST(Parameters, EveryShippedModelReads) {
  const auto ids = shipped_models();
  EXPECT_GE(ids.size(), 40u);
  for (const std::string& id : ids) {
    const auto spec = read_model(id, "", 90);
    ASSERT_TRUE(spec.ok()) << spec.error().text;
    EXPECT_GT(spec->parameters(), 100'000'000) << id;
  }
}

TEST(Parameters, FamiliesThatAreNotPricedYetAreRefusedByName) {
  for (const char* id : {"nvidia/GLM-5-NVFP4", "deepseek-ai/DeepSeek-V3.2", "Qwen/Qwen3.5-27B"}) {
    const auto spec = read_model(id, "", 90);
    ASSERT_FALSE(spec.ok()) << id;
    EXPECT_NE(spec.error().text.find("not supported yet"), std::string::npos) << spec.error().text;
  }
}

}  // namespace
}  // namespace setpoint::model
