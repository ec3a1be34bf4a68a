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

// 16 query and 2 key heads of 128 on each of 4 GPUs, read and written in 16 bits.
TEST(Plan, NormsOfQueriesAndKeysPassOverThemOncePerLayer) {
  const Case c = make("Qwen/Qwen3-32B", "h200_sxm", "vllm", {4});
  const Plan p = plan(c.input());
  EXPECT_DOUBLE_EQ(count_of(p, "qk_norm"), 64);
  const auto at = std::find_if(p.ops.begin(), p.ops.end(),
                               [](const PlanOp& op) { return op.name == "qk_norm"; });
  EXPECT_DOUBLE_EQ(std::get<ops::Elementwise>(at->op).bytes_per_token, (16 + 2) * 128 * 2 * 2);
  const Case plain = make("meta-llama/Meta-Llama-3.1-8B", "h200_sxm", "vllm", {});
  EXPECT_DOUBLE_EQ(count_of(plan(plain.input()), "qk_norm"), 0);
}

TEST(Plan, TheSumAfterAttentionSpansTheRanksThatShareIt) {
  const Case c = make("Qwen/Qwen3-235B-A22B-FP8", "h200_sxm", "vllm", {4, 1, 2, 1, 8, 1});
  const Plan p = plan(c.input());
  const auto at = std::find_if(p.ops.begin(), p.ops.end(),
                               [](const PlanOp& op) { return op.name == "ar_attention"; });
  ASSERT_NE(at, p.ops.end());
  EXPECT_EQ(std::get<ops::CustomAllReduce>(at->op).ranks, 4);
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

const PlanOp& named(const Plan& plan, const std::string& name) {
  return *std::find_if(plan.ops.begin(), plan.ops.end(),
                       [&](const PlanOp& op) { return op.name == name; });
}

// A model with 384 experts that no list of names knows, on 8 ranks: an eighth of the expert weights
// each (3 x 1024 x 512 x 384 x 2 bytes x 4 layers = 4.83 GB), the rest divided by tp.
TEST(Plan, ExpertWeightsAreDividedByExpertRanksAlsoForUnknownArchitectures) {
  Case c = make("Qwen/Qwen3-30B-A3B", "h200_sxm", "vllm", {8, 1, 1, 1, 8, 1});
  c.spec = read_config({"new/moe", R"({"architectures": ["NobodyKnowsForCausalLM"],
    "hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 16,
    "num_key_value_heads": 8, "intermediate_size": 512, "num_experts": 384,
    "num_experts_per_tok": 8, "vocab_size": 32000})",
                        std::nullopt, ""})
               .value();
  c.precision = resolve_precision(c.spec, c.facts, c.system, {}).value();
  ASSERT_EQ(infeasible_reason(c.input()), "");
  const double experts = 3.0 * 1024 * 512 * 384 * 2 * 4 / 8;
  const double routers = 384.0 * 1024 * 2 * 4;  // on every GPU
  const double rest = (2.0 * 32000 * 1024 + 4.0 * (2 * 1024 * 1024 + 2 * 512 * 1024)) * 2 / 8;
  EXPECT_NEAR(static_cast<double>(plan(c.input()).weights.value()), experts + routers + rest, 1e5);
  c.shard.pp = 2;
  EXPECT_NEAR(static_cast<double>(plan(c.input()).weights.value()), (experts + routers + rest) / 2,
              1e5);
}

// TensorRT-LLM moves Mixtral's tokens by all-reduce whatever the experts' cut is: no all-to-all.
TEST(Plan, ExpertParallelMixtralOnTensorRtLlmPaysTheAllReduceItRuns) {
  const auto tp = make("mistralai/Mixtral-8x7B-v0.1", "h100_sxm", "trtllm", {8, 1, 1, 8, 1, 1});
  const auto ep = make("mistralai/Mixtral-8x7B-v0.1", "h100_sxm", "trtllm", {8, 1, 1, 1, 8, 1});
  for (const Case* c : {&tp, &ep}) {
    const Plan p = plan(c->input());
    EXPECT_DOUBLE_EQ(count_of(p, "ar_attention") + count_of(p, "ar_ffn"), 2 * 32);
    EXPECT_DOUBLE_EQ(count_of(p, "moe_gather") + count_of(p, "moe_scatter"), 0);
  }
}

TEST(Plan, SharedExpertsAndPrefillHeadArePresent) {
  const Case c = make("deepseek-ai/DeepSeek-R1", "h200_sxm", "sglang", {8, 1, 1, 1, 8, 1});
  const Plan p = plan(c.input());
  EXPECT_EQ(named(p, "logits_gemm").drive, Drive::samples);
  EXPECT_EQ(named(p, "logits_gemm").phase, Phase::both);
  EXPECT_EQ(named(p, "shared_gate_up_gemm").overlap, Lane::shared);
  EXPECT_EQ(named(p, "moe").overlap, Lane::routed);
}

TEST(Plan, BlackwellUltraMovesTokensLikeBlackwell) {
  for (const char* system : {"b200_sxm", "b300_sxm"}) {
    const Case c = make("nvidia/DeepSeek-V3.1-NVFP4", system, "trtllm", {1, 1, 8, 1, 8, 1});
    const Plan p = plan(c.input());
    const auto& gather = std::get<ops::Collective>(named(p, "moe_gather").op);
    EXPECT_DOUBLE_EQ(gather.elements, 7168 * 8 * 0.28125) << system;
    EXPECT_EQ(named(p, "moe").tokens_times, 8);
  }
}

TEST(Plan, HandOverCrossesTheLinkBetweenItsStages) {
  Case c = make("meta-llama/Meta-Llama-3.1-70B", "h100_sxm", "vllm", {4, 2});
  EXPECT_EQ(std::get<ops::P2p>(named(plan(c.input()), "p2p").op).span, 2);  // one node of 8
  c.shard.tp = 8;
  EXPECT_EQ(std::get<ops::P2p>(named(plan(c.input()), "p2p").op).span, 9);  // two nodes
  c.shard = {4, 4};  // inside, across, inside
  EXPECT_DOUBLE_EQ(count_of(plan(c.input()), "p2p"), 3);
  EXPECT_DOUBLE_EQ(named(plan(c.input()), "p2p").count, 2);
}

TEST(Plan, KvHeadsRepeatWhereTpExceedsThem) {
  const Case c = make("Qwen/Qwen3-235B-A22B", "h200_sxm", "vllm", {8, 1, 1, 8, 1, 1});  // 4 heads
  EXPECT_DOUBLE_EQ(plan(c.input()).kv.bytes_per_token(), 94 * 1 * 256 * 2);
}

TEST(Plan, WindowsCapTheCache) {
  const Case c = make("openai/gpt-oss-120b", "h100_sxm", "vllm", {1});
  const KvFootprint kv = plan(c.input()).kv;
  const double layer = 8 * 2 * 64 * 2;  // bytes a token
  EXPECT_DOUBLE_EQ(kv.bytes(100), 36 * 100 * layer);
  EXPECT_DOUBLE_EQ(kv.bytes(10000), 18 * (10000 + 128) * layer);
}

TEST(Plan, OwnPredictionLayersDraftElseAShareOfThePass) {
  const Case r1 = make("deepseek-ai/DeepSeek-R1", "h200_sxm", "vllm", {8, 1, 1, 1, 8, 1});
  const Plan own = plan(r1.input(1));
  EXPECT_DOUBLE_EQ(count_of(own, "draft_moe"), 1);
  EXPECT_DOUBLE_EQ(count_of(own, "draft_logits_gemm"), 1);
  const Plan without = plan(r1.input(0));
  // in MB: experts 11,274 / 8, shared 44 / 8, attention 15.1 whole + 172 / 8, router 3.7, the
  // projection of embedding and hidden state 2 x 7168 x 7168 x 2 bytes = 205.5
  EXPECT_NEAR(static_cast<double>((own.weights - without.weights).value()), 1660.6e6, 1e6);
  EXPECT_DOUBLE_EQ(own.kv.bytes_per_token() / without.kv.bytes_per_token(), 62.0 / 61);
  const Case qwen = make("Qwen/Qwen3-32B", "h200_sxm", "vllm", {2});
  EXPECT_DOUBLE_EQ(count_of(plan(qwen.input(2)), "draft_qkv_gemm"), 2);
}

TEST(Plan, ContextParallelCutsPromptsAndNotDecodes) {
  const Case c = make("Qwen/Qwen3-32B", "h200_sxm", "sglang", {1, 1, 1, 1, 1, 4});
  ASSERT_EQ(infeasible_reason(c.input()), "");
  for (const PlanOp& op : plan(c.input()).ops) {
    if (op.name != "qkv_gemm" && op.name != "attention") continue;
    EXPECT_EQ(op.tokens_over, op.phase == Phase::prefill ? 4 : 1) << op.name;
    EXPECT_NE(op.phase, Phase::both);
  }
}

TEST(Plan, ImpossibleCutsSayWhy) {
  struct Bad {
    const char *model, *framework;
    Shard shard;
    const char* word;
  };
  for (const Bad& bad : std::initializer_list<Bad>{
           {"Qwen/Qwen3-32B", "vllm", {3}, "heads"},
           {"Qwen/Qwen3-32B", "vllm", {1, 65}, "layers"},
           {"Qwen/Qwen3-32B", "vllm", {1, 1, 2}, "replicas"},
           {"Qwen/Qwen3-32B", "vllm", {2, 1, 1, 1, 2}, "no experts"},
           {"Qwen/Qwen3-32B", "vllm", {1, 1, 1, 1, 1, 2}, "context"},
           {"Qwen/Qwen3-235B-A22B-FP8", "sglang", {8, 1, 1, 8, 1}, "block"},
           {"Qwen/Qwen3-235B-A22B-FP8", "sglang", {4, 1, 1, 1, 2}, "must equal"},
           {"MiniMaxAI/MiniMax-M2.5", "vllm", {8, 1, 1, 8, 1}, "192 is not a multiple of the fp8"},
           {"Qwen/Qwen3-30B-A3B", "vllm", {4, 1, 1, 2, 2}, "moe_tp and moe_ep"},
           {"Qwen/Qwen3-30B-A3B", "trtllm", {2, 1, 2, 1, 4}, "dp 2"},
           {"mistralai/Mixtral-8x7B-v0.1", "sglang", {1, 1, 16, 1, 16}, "8 experts"}}) {
    const Case c = make(bad.model, "h200_sxm", bad.framework, bad.shard);
    const std::string why = infeasible_reason(c.input());
    EXPECT_NE(why.find(bad.word), std::string::npos) << bad.model << ": " << why;
  }
}

// MiniMax-M2.5 cut eight ways leaves 192 columns of an expert, one and a half blocks: vLLM refused
// to load that until it learnt to cut blocks (64 of them here). Experts that are spread stay whole.
TEST(Plan, AVersionThatCutsBlocksTakesAPartOfABlock) {
  Case c = make("MiniMaxAI/MiniMax-M2.5", "h200_sxm", "vllm", {8, 1, 1, 8, 1});
  EXPECT_NE(infeasible_reason(c.input()), "");
  c.facts = framework::find_facts("vllm", "0.33.0").value();
  EXPECT_EQ(infeasible_reason(c.input()), "");
  c.facts.expert_block_least = 128;
  EXPECT_NE(infeasible_reason(c.input()), "");
  c = make("MiniMaxAI/MiniMax-M2.5", "h200_sxm", "vllm", {8, 1, 1, 1, 8});
  EXPECT_EQ(infeasible_reason(c.input()), "");
}

// What lies in the framework is told apart from what lies in the model, with the reason.
TEST(Plan, WhatAFrameworkCannotBeToldSaysWhat) {
  const auto reason = [](const char* framework, const Shard& shard) {
    const Case c = make("Qwen/Qwen3-30B-A3B", "h200_sxm", framework, shard);
    return framework_reason(c.input());
  };
  EXPECT_EQ(reason("vllm", {8, 1, 1, 8, 1}), "");
  EXPECT_NE(reason("vllm", {4, 1, 1, 2, 2}).find("moe_tp and moe_ep"), std::string::npos);
  EXPECT_NE(reason("trtllm", {2, 1, 2, 1, 4}).find("tp 2 with dp 2"), std::string::npos);
  EXPECT_NE(reason("vllm", {1, 1, 1, 2, 1, 2}).find("context parallelism"), std::string::npos);
}

}  // namespace
}  // namespace setpoint::model
