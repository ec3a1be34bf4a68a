// SPDX-License-Identifier: Apache-2.0
#include "model/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/framework.h"
#include "model/read.h"

namespace setpoint::model {
namespace {

struct Case {
  ModelSpec spec;
  hw::System system;
  framework::Facts facts;
  Shard shard;
  Precision precision;
  PlanInput input(int nextn = 0) const { return {spec, shard, precision, facts, system, nextn}; }
};

Case make(const std::string& model, const std::string& system, const std::string& framework,
          Shard shard) {
  Case c;
  c.spec = read_model(model, "", 90).value();
  c.system = hw::find_system(system).value();
  c.facts = framework::find_facts(framework, framework::current_version(framework, system).value())
                .value();
  c.shard = shard;
  c.precision = resolve_precision(c.spec, c.facts, c.system, {}).value();
  return c;
}

double count_of(const Plan& plan, const std::string& name) {
  double sum = 0;
  for (const PlanOp& op : plan.ops) sum += op.name == name ? op.count : 0;
  return sum;
}

// 32 layers, 8 KV heads of 128: 2 x 32 x 8 x 128 x 2 bytes = 131,072 a token, halved by each of
// tp 2 and pp 2.
TEST(Plan, KvBytesFollowTensorAndPipelineCuts) {
  Case c = make("meta-llama/Meta-Llama-3.1-8B", "h100_sxm", "vllm", {});
  EXPECT_DOUBLE_EQ(plan(c.input()).kv.bytes_per_token(), 131072);
  c.shard.tp = c.shard.pp = 2;
  EXPECT_DOUBLE_EQ(plan(c.input()).kv.bytes_per_token(), 32768);
}

TEST(Plan, LatentAttentionKeepsRankPlusRotaryPerLayer) {
  const Case c = make("moonshotai/Kimi-K2.5", "b200_sxm", "vllm", {8, 1, 1, 1, 8, 1});
  const double elements = plan(c.input()).kv.bytes_per_token() / ops::bytes(c.precision.kv);
  EXPECT_DOUBLE_EQ(elements / 61, 512 + 64);
}

TEST(Plan, DenseLayerHasTwoAllReduces) {
  const Case c = make("Qwen/Qwen3-32B", "h200_sxm", "trtllm", {4});
  const Plan p = plan(c.input());
  EXPECT_DOUBLE_EQ(count_of(p, "ar_attention"), 64);
  EXPECT_DOUBLE_EQ(count_of(p, "ar_ffn"), 64);
}

TEST(Plan, LatentModelOnVllmHasTwoAllReducesALayerAndDenseFirstLayers) {
  const Case c = make("deepseek-ai/DeepSeek-V3", "h200_sxm", "vllm", {8, 1, 1, 1, 8, 1});
  const Plan p = plan(c.input());
  EXPECT_DOUBLE_EQ(count_of(p, "ar_attention") + count_of(p, "ar_ffn"), 2 * 61);
  EXPECT_DOUBLE_EQ(count_of(p, "ffn2_gemm"), 3);
  EXPECT_DOUBLE_EQ(count_of(p, "moe"), 58);
  EXPECT_DOUBLE_EQ(count_of(p, "shared_ffn2_gemm"), 58);
}

TEST(Plan, CompletesTheMissingExpertDegree) {
  EXPECT_EQ(complete_shard({4}, std::nullopt, 4).value(), (Shard{4, 1, 1, 1, 4, 1}));
  EXPECT_EQ(complete_shard({2, 1, 4}, 2, std::nullopt).value(), (Shard{2, 1, 4, 2, 4, 1}));
  EXPECT_FALSE(complete_shard({4}, std::nullopt, 3).ok());
}

}  // namespace
}  // namespace setpoint::model
