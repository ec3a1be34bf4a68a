// SPDX-License-Identifier: Apache-2.0
#include "generate/settings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "deployments.h"

namespace {

using namespace setpoint;
using namespace setpoint::generate;
using namespace setpoint::generate_test;

std::string dense(const std::string& framework, const std::string& rest) {
  return R"({"model": "Qwen/Qwen3-32B", "system": "h200_sxm", "isl": 4000, "osl": 1000,
             "framework": ")" +
         framework + "\", " + rest + "}";
}
std::string pools(const std::string& framework, const std::string& prefill,
                  const std::string& decode, const std::string& rest = "") {
  return dense(framework, "\"mode\": \"disagg\", \"prefill\": {" + prefill + "}, \"decode\": {" +
                              decode + "}" + rest);
}
std::string experts(const std::string& framework, const std::string& rest) {
  return R"({"model": "deepseek-ai/DeepSeek-V3", "system": "h200_sxm", "isl": 4000, "osl": 1000,
             "framework": ")" +
         framework + "\", " + rest + "}";
}

TEST(GraphSizes, AreSortedUniqueAndEndInTheBatch) {
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(graph_sizes(1), (List{1}));
  EXPECT_EQ(graph_sizes(3), (List{1, 2, 3}));
  EXPECT_EQ(graph_sizes(28), (List{1, 2, 4, 8, 16, 24, 28}));
  const List large = graph_sizes(300);
  EXPECT_EQ(List(large.end() - 4, large.end()), (List{248, 256, 288, 300}));
  for (std::int64_t batch = 1; batch <= 4096; ++batch) {
    const List sizes = graph_sizes(batch);
    ASSERT_EQ(sizes.back(), batch);
    ASSERT_EQ(sizes.front(), 1);
    ASSERT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
    ASSERT_EQ(std::adjacent_find(sizes.begin(), sizes.end()), sizes.end()) << batch;
  }
}

// Qwen3-32B holds 128 KiB of KV a token and GPU at tp 2 (64 layers, 8 KV heads of 128, 16 bits):
// 112 requests of 5000 tokens are 68.4 GiB; with a fifth more, 30.5 GiB of weights and 3.8 GiB of
// context and buffers on 141 GiB the share is 0.83 to 0.84.
TEST(Settings, AnAggregatedWorkerGetsTheFoundBatchAndBudgetAsLimits) {
  const Settings s = settings_of(dense("vllm", R"("tp": 2, "batch": 112, "max_num_tokens": 5612)"));
  ASSERT_EQ(s.roles.size(), 1u);
  const RoleSettings& r = s.roles[0];
  EXPECT_EQ(r.role, Role::mixed);
  EXPECT_EQ(r.gpus, 2);
  EXPECT_EQ(r.nodes, 1);
  EXPECT_EQ(r.max_requests, 112);
  EXPECT_EQ(r.max_tokens, 5612);
  EXPECT_EQ(r.chunk_tokens, 5500);
  EXPECT_EQ(r.max_len, 6500);
  EXPECT_NEAR(r.kv_fraction, 0.835, 0.0051);
  EXPECT_EQ(r.graph_sizes.back(), 112);
  EXPECT_FALSE(r.fp8_kv);
  EXPECT_EQ(s.framework, "vllm");
  EXPECT_EQ(s.served_name, "Qwen/Qwen3-32B");
  EXPECT_TRUE(s.warnings.empty());
}

// 4000 + 1000 + 1500 = 6500 is no multiple of 32 tokens; workers die of that at start.
TEST(Settings, LimitsAreWholeKvBlocksWhereTheEngineNeedsThem) {
  const Settings agg =
      settings_of(dense("trtllm", R"("tp": 2, "batch": 48, "chunk_tokens": 4000)"));
  EXPECT_EQ(agg.roles[0].max_len, 6528);
  EXPECT_EQ(agg.roles[0].max_tokens, 4576);  // up(4000 + 500 + 48)
  EXPECT_EQ(agg.roles[0].kv_page, 32);
  EXPECT_EQ(agg.roles[0].chunk_tokens, 0);
  EXPECT_EQ(agg.roles[0].kv_buffer_tokens, 0);
  const Settings disagg = settings_of(
      pools("trtllm", R"("workers": 3, "tp": 1, "batch": 1)", R"("tp": 2, "batch": 50)"));
  ASSERT_EQ(disagg.roles.size(), 2u);
  for (const RoleSettings& r : disagg.roles) {
    EXPECT_EQ(r.max_len, 6528);
    EXPECT_EQ(r.kv_buffer_tokens, 5504);  // up(5500)
  }
  EXPECT_EQ(disagg.roles[0].max_tokens, 4512);  // up(4500)
  EXPECT_EQ(disagg.roles[1].max_tokens, 64);    // up(50)
  EXPECT_TRUE(disagg.roles[0].graph_sizes.empty());
  EXPECT_EQ(disagg.roles[1].graph_sizes.back(), 50);
}

TEST(Settings, DecodeTokensCoverEveryDraft) {
  const std::string rest = R"("mode": "disagg", "nextn": 1, "nextn_accepted": 0.8,
      "prefill": {"tp": 8, "moe_ep": 8, "batch": 1},
      "decode": {"tp": 1, "dp": 8, "moe_ep": 8, "batch": 20})";
  for (const char* framework : {"vllm", "sglang"}) {
    const Settings s = settings_of(experts(framework, rest));
    EXPECT_EQ(s.role(Role::decode)->max_tokens, 40) << framework;
    EXPECT_EQ(s.role(Role::decode)->gpus, 8) << framework;
    EXPECT_EQ(s.nextn, 1);
  }
  EXPECT_EQ(settings_of(experts("trtllm", rest)).role(Role::decode)->max_tokens, 64);
}

// An engine that may put a prompt into every step refuses to start when its longest request is
// above the budget of a step and prompts may not be cut.
TEST(Settings, ABudgetBelowTheLongestRequestComesWithChunking) {
  const Settings s =
      settings_of(pools("vllm", R"("workers": 3, "tp": 1, "batch": 1)", R"("tp": 2, "batch": 50)"));
  for (const RoleSettings& r : s.roles) {
    ASSERT_LT(r.max_tokens, r.max_len);
    EXPECT_EQ(r.chunk_tokens, r.max_tokens);
  }
  EXPECT_EQ(s.role(Role::prefill)->max_tokens, 5500);  // the whole prompt in one step, as priced
}

TEST(Settings, ChunksAreMultiplesOfEveryPageThatTheEngineMayChoose) {
  const Settings s = settings_of(
      pools("sglang", R"("workers": 3, "tp": 1, "batch": 1)", R"("tp": 2, "batch": 50)"));
  EXPECT_EQ(s.role(Role::prefill)->chunk_tokens, 5504);
  EXPECT_GE(s.role(Role::prefill)->max_tokens, 5504);
  EXPECT_EQ(s.role(Role::decode)->chunk_tokens, 0);
}

// NVIDIA/TensorRT-LLM 3058.
TEST(Settings, ALongPromptIsTakenWholeOrCutAndSaid) {
  const std::string head =
      R"({"model": "nvidia/DeepSeek-V3.1-NVFP4", "system": "b200_sxm", "isl": 50000,
      "osl": 1000, "framework": "trtllm", "tp": 8, "moe_ep": 8, "batch": 4)";
  const Settings whole = settings_of(head + ", \"chunk_tokens\": 50000}");
  EXPECT_EQ(whole.roles[0].chunk_tokens, 0);
  EXPECT_GE(whole.roles[0].max_tokens, 50000);
  EXPECT_TRUE(whole.warnings.empty());
  const Settings cut = settings_of(head + "}");
  EXPECT_GT(cut.roles[0].chunk_tokens, 0);
  ASSERT_EQ(cut.warnings.size(), 1u);
  EXPECT_NE(cut.warnings[0].find("chunks of 8192 tokens"), std::string::npos) << cut.warnings[0];
}

TEST(Settings, AWorkerOverSeveralNodesKeepsTheSearchsCount) {
  const Settings s =
      settings_of(experts("sglang", R"("tp": 8, "dp": 2, "moe_ep": 16, "batch": 64)"));
  EXPECT_EQ(s.roles[0].gpus, 16);
  EXPECT_EQ(s.roles[0].nodes, 2);
  EXPECT_EQ(s.roles[0].gpus_on_node, 8);
  EXPECT_EQ(s.gpus(), 16);
}

TEST(Settings, ReplicasMultiplyTheWorkersOfEachRole) {
  const Settings s = settings_of(pools("vllm", R"("workers": 3, "tp": 1, "batch": 1)",
                                       R"("tp": 1, "batch": 8)", R"(, "gpus": 8)"));
  EXPECT_EQ(s.role(Role::prefill)->workers, 6);
  EXPECT_EQ(s.role(Role::decode)->workers, 2);
  EXPECT_EQ(s.gpus(), 8);
}

TEST(Settings, RolesMayRunOnDifferentSystems) {
  const Settings s = settings_of(pools("sglang", R"("workers": 3, "tp": 1, "batch": 1)",
                                       R"("tp": 2, "batch": 8)", R"(, "decode_system": "gb200")"));
  EXPECT_EQ(s.role(Role::prefill)->system, "h200_sxm");
  EXPECT_EQ(s.role(Role::prefill)->gpus_per_node, 8);
  EXPECT_EQ(s.role(Role::decode)->system, "gb200");
  EXPECT_EQ(s.role(Role::decode)->gpus_per_node, 4);
}

TEST(Settings, TheLongestRequestEndsAtTheModelsOwnLimit) {
  const std::string head = R"({"model": "Qwen/Qwen3-32B", "system": "h200_sxm", "framework": "vllm",
      "osl": 1000, "tp": 4, "batch": 1, "isl": )";
  EXPECT_EQ(settings_of(head + "39000}").roles[0].max_len, 40960);
  const Error error = error_of(head + "40000}");
  EXPECT_EQ(error.code, ErrorCode::bad_input);
  EXPECT_EQ(error.text,
            "isl, osl: requests of 40000 + 1000 tokens exceed the 40960 that "
            "Qwen/Qwen3-32B allows");
}

// The largest batch that fits needs all the memory that the engine takes by default; one request
// more is refused by the estimate itself.
TEST(Settings, TheLargestBatchThatFitsStillGetsAShareThatHoldsIt) {
  for (const char* framework : {"vllm", "sglang", "trtllm"}) {
    const std::string head = dense(framework, R"("tp": 1, "chunk_tokens": 4000, "batch": )");
    const auto asked = [&](int batch) {
      return head.substr(0, head.size() - 1) + std::to_string(batch) + "}";
    };
    int batch = 1;
    while (try_deployment(asked(batch + 1)).ok()) ++batch;
    ASSERT_GT(batch, 20) << framework;
    const RoleSettings r = settings_of(asked(batch)).roles[0];
    EXPECT_EQ(r.max_requests, batch);
    EXPECT_GE(r.kv_fraction, 0.9) << framework;
    const Error error = error_of(asked(batch + 1));
    EXPECT_EQ(error.code, ErrorCode::no);
    EXPECT_NE(error.text.find("does not fit"), std::string::npos) << error.text;
  }
}

TEST(Settings, AShareThatTheUserPinsIsWrittenOrRefusedWithWhatFits) {
  const std::string head = dense("vllm", R"("tp": 2, "batch": 112, "memory_fraction": )");
  const auto with = [&](const char* share) {
    return head.substr(0, head.size() - 1) + share + "}";
  };
  EXPECT_DOUBLE_EQ(settings_of(with("0.91")).roles[0].kv_fraction, 0.91);
  const Error error = error_of(with("0.5"));
  EXPECT_EQ(error.code, ErrorCode::no);
}

TEST(Settings, ASixteenBitCheckpointIsServedInFp8OnlyWhereTheEngineMakesIt) {
  const std::string rest = R"("tp": 2, "batch": 16, "quant": {"gemm": "fp8"})";
  EXPECT_TRUE(settings_of(dense("vllm", rest)).roles[0].online_fp8);
  EXPECT_TRUE(settings_of(dense("sglang", rest)).roles[0].online_fp8);
  const Error error = error_of(dense("trtllm", rest));
  EXPECT_NE(error.text.find("--model-path"), std::string::npos) << error.text;
  Options own;
  own.model_path = "/models/qwen3-32b-fp8";
  const Settings s = settings_of(dense("trtllm", rest), own);
  EXPECT_FALSE(s.roles[0].online_fp8);
  EXPECT_EQ(s.model, "/models/qwen3-32b-fp8");
  EXPECT_EQ(s.served_name, "Qwen/Qwen3-32B");
  // A published fp8 checkpoint carries its own formats.
  EXPECT_FALSE(settings_of(R"({"model": "Qwen/Qwen3-32B-FP8", "system": "h200_sxm", "isl": 4000,
      "osl": 1000, "framework": "vllm", "tp": 2, "batch": 16})")
                   .roles[0]
                   .online_fp8);
}

TEST(Settings, WhatAnEngineCannotSayIsRefusedByName) {
  Deployment d =
      deployment(experts("sglang", R"("tp": 4, "dp": 2, "moe_tp": 2, "moe_ep": 4, "batch": 8)"));
  d.estimate.framework = "vllm";
  d.estimate.framework_version = "0.24.0";
  const auto vllm = settings(d, {});
  ASSERT_FALSE(vllm.ok());
  EXPECT_EQ(vllm.error().code, ErrorCode::no);
  EXPECT_NE(vllm.error().text.find("mixed.moe_tp"), std::string::npos) << vllm.error().text;
  d.estimate.framework = "trtllm";
  d.estimate.framework_version = "1.3.0rc20";
  const auto trtllm = settings(d, {});
  ASSERT_FALSE(trtllm.ok());
  EXPECT_EQ(trtllm.error().code, ErrorCode::no);
  EXPECT_NE(trtllm.error().text.find("mixed.dp"), std::string::npos) << trtllm.error().text;
}

TEST(Settings, ALayoutThatNodesCannotCarryIsRefusedByField) {
  EXPECT_EQ(error_of(dense("vllm", R"("tp": 4, "pp": 3, "batch": 8)")).text.substr(0, 9),
            "mixed.tp:");
  Deployment d = deployment(dense("vllm", R"("tp": 2, "batch": 8)"));
  d.estimate.replicas = 3;
  d.estimate.gpus_asked = 4;
  const auto over = settings(d, {});
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().text, "workers: all of them need 6 GPUs, more than the 4 asked");
  d.estimate.mode = Mode::static_batch;
  EXPECT_NE(settings(d, {}).error().text.find("mode: static"), std::string::npos);
}

TEST(Settings, OptionsThatNoFileCanHoldAreRefused) {
  const Deployment d = deployment(dense("vllm", R"("tp": 2, "batch": 8)"));
  const auto error = [&](const Options& options) {
    const auto made = settings(d, options);
    return made ? std::string() : made.error().text;
  };
  Options options;
  options.port = 0;
  EXPECT_EQ(error(options), "--port: expected a whole number from 1 to 60000, found 0");
  options = {};
  options.namespace_name = "No";
  EXPECT_EQ(error(options).substr(0, 12), "--namespace:");
  options = {};
  options.served_name = "a\nb";
  EXPECT_EQ(error(options).substr(0, 14), "--served-name:");
  options = {};
  options.engine_version = "newest";
  EXPECT_NE(error(options).find("newest"), std::string::npos);
}

TEST(Settings, WhatWasPricedButWillNotHappenIsSaid) {
  const Settings drafts =
      settings_of(dense("vllm", R"("tp": 2, "batch": 8, "nextn": 2, "nextn_accepted": 1)"));
  ASSERT_EQ(drafts.warnings.size(), 1u);
  EXPECT_NE(drafts.warnings[0].find("no draft layers"), std::string::npos);
  EXPECT_TRUE(settings_of(experts("vllm", R"("tp": 8, "moe_ep": 8, "batch": 8, "nextn": 1)"))
                  .warnings.empty());
  Options options;
  options.prefix_cache = false;
  const Settings cold =
      settings_of(dense("vllm", R"("tp": 2, "batch": 8, "prefix": 100)"), options);
  ASSERT_EQ(cold.warnings.size(), 1u);
  EXPECT_NE(cold.warnings[0].find("100 cached tokens"), std::string::npos);
  EXPECT_FALSE(cold.prefix_cache);
}

TEST(Settings, AnotherEngineVersionThanTheTablesIsSaid) {
  Options options;
  options.engine_version = "0.33.0";
  const Settings s = settings_of(dense("vllm", R"("tp": 2, "batch": 8)"), options);
  EXPECT_EQ(s.engine_version, "0.33.0");
  ASSERT_EQ(s.warnings.size(), 1u);
  EXPECT_NE(s.warnings[0].find("tables of 0.24.0"), std::string::npos) << s.warnings[0];
}

}  // namespace
