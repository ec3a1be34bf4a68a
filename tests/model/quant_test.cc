// SPDX-License-Identifier: Apache-2.0
// Number formats as published checkpoints describe them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/modules.h"
#include "model/plan.h"
#include "model/read.h"

namespace setpoint::model {
namespace {

using ops::Quant;

// A small MLA model with dense first layers and shared experts: has every part.
constexpr const char* kLatent = R"("architectures": ["DeepseekV3ForCausalLM"], "hidden_size": 512,
  "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1000,
  "kv_lora_rank": 64, "q_lora_rank": 128, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32,
  "v_head_dim": 64, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 256,
  "n_shared_experts": 1, "first_k_dense_replace": 2)";
constexpr const char* kDense = R"("architectures": ["LlamaForCausalLM"], "hidden_size": 512,
  "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 2,
  "intermediate_size": 1024, "vocab_size": 1000)";

Result<ModelSpec> read(const char* fields, const std::string& quant,
                       std::optional<std::string> hf_quant = std::nullopt) {
  return read_config(
      {"m", fmt::format("{{{}, \"quantization_config\": {}}}", fields, quant), hf_quant, ""});
}
CheckpointQuant quant_of(const char* fields, const std::string& quant,
                         std::optional<std::string> hf_quant = std::nullopt) {
  const auto spec = read(fields, quant, hf_quant);
  EXPECT_TRUE(spec.ok()) << spec.error().text;
  return spec.ok() ? spec->quant : CheckpointQuant{};
}

TEST(CheckpointQuant, WithoutAnyEverythingIsSixteenBit) {
  EXPECT_EQ(quant_of(kDense, "null"), CheckpointQuant{});
}

TEST(CheckpointQuant, BlockFp8NamesItsBlockAndNoKvFormat) {
  const auto q = quant_of(kLatent, R"({"quant_method": "fp8", "activation_scheme": "dynamic",
    "fmt": "e4m3", "weight_block_size": [128, 128]})");
  EXPECT_EQ(q.gemm, Quant::fp8_block);
  EXPECT_EQ(q.moe, Quant::fp8_block);
  EXPECT_EQ(q.block, 128);
  EXPECT_FALSE(q.kv.has_value());
}

TEST(CheckpointQuant, StaticFp8WithKvFormatFromHfQuantConfigWins) {
  const auto q = quant_of(kDense, R"({"quant_method": "awq", "bits": 4})",
                          R"({"producer": {"name": "modelopt"}, "quantization":
    {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})");
  EXPECT_EQ(q.gemm, Quant::fp8_static);
  EXPECT_EQ(q.kv, Quant::fp8);
  EXPECT_FALSE(q.attn_q_excluded);
}

TEST(CheckpointQuant, Nvfp4KeepsExcludedAttentionInSixteenBit) {
  const auto q = quant_of(kLatent, R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
    "group_size": 16, "kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": false},
    "exclude_modules": ["lm_head", "model.layers.0.self_attn*", "model.layers.1.self_attn*",
      "model.layers.*.self_attn.q_a_proj", "model.layers.*.self_attn.q_b_proj",
      "model.layers.*.self_attn.kv_a_proj_with_mqa", "model.layers.*.self_attn.kv_b_proj"]})");
  EXPECT_EQ(q.gemm, Quant::nvfp4);
  EXPECT_EQ(q.moe, Quant::nvfp4);
  EXPECT_TRUE(q.attn_q_excluded && q.attn_kv_excluded);
  EXPECT_FALSE(q.attn_o_excluded || q.shared_excluded || q.dense_ffn_excluded);
  EXPECT_EQ(q.kv, Quant::fp8);
}

TEST(CheckpointQuant, RegularExpressionsOfCompressedTensors) {
  const auto q = quant_of(kLatent, R"({"quant_method": "compressed-tensors", "config_groups":
    {"group_0": {"targets": ["Linear"], "input_activations": null, "weights": {"num_bits": 4,
      "type": "int", "strategy": "group", "group_size": 32}}},
    "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*",
      "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"]})");
  EXPECT_EQ(q.moe, Quant::int4_wo);
  EXPECT_EQ(q.gemm, Quant::bfloat16);
  EXPECT_EQ(q.block, 32);
}

TEST(CheckpointQuant, FloatGroupsByStrategyAndActivations) {
  const auto group = [](const char* strategy, const char* dynamic) {
    return fmt::format(R"({{"quant_method": "compressed-tensors", "config_groups": {{"g":
      {{"targets": ["Linear"], "weights": {{"num_bits": 8, "type": "float", "strategy": "{}",
      "block_structure": [128, 128]}}, "input_activations": {{"num_bits": 8, "type": "float",
      "dynamic": {}}}}}}}, "ignore": ["lm_head"]}})",
                       strategy, dynamic);
  };
  EXPECT_EQ(quant_of(kDense, group("channel", "true")).gemm, Quant::fp8);
  EXPECT_EQ(quant_of(kDense, group("tensor", "false")).gemm, Quant::fp8_static);
  EXPECT_EQ(quant_of(kDense, group("block", "true")).gemm, Quant::fp8_block);
}

TEST(CheckpointQuant, Mxfp4IsForExpertsOnly) {
  const auto q = quant_of(kLatent, R"({"quant_method": "mxfp4", "modules_to_not_convert":
    ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"]})");
  EXPECT_EQ(q.gemm, Quant::bfloat16);
  EXPECT_EQ(q.moe, Quant::w4a16_mxfp4);
}

TEST(CheckpointQuant, AwqAndGptqAreFourBitWeights) {
  EXPECT_EQ(quant_of(kDense, R"({"quant_method": "awq", "bits": 4, "group_size": 128})").gemm,
            Quant::int4_wo);
  EXPECT_EQ(quant_of(kDense, R"({"quant_method": "gptq", "bits": 8, "group_size": -1})").gemm,
            Quant::int8_wo);
}

TEST(CheckpointQuant, PerModuleTagsGiveEachPartItsFormat) {
  const auto q = quant_of(kLatent, R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
    "quantized_layers": {"model.layers.3.self_attn.o_proj": {"quant_algo": "FP8"},
      "model.layers.4.mlp.experts.0.gate_proj": {"quant_algo": "NVFP4"}}})");
  EXPECT_EQ(q.gemm, Quant::fp8_static);
  EXPECT_EQ(q.moe, Quant::nvfp4);
  EXPECT_TRUE(q.attn_q_excluded && q.shared_excluded);
  EXPECT_FALSE(q.attn_o_excluded);
}

TEST(CheckpointQuant, UnknownMethodIsRefusedWithNeighbours) {
  const auto spec = read(kDense, R"({"quant_method": "gptqq"})");
  ASSERT_FALSE(spec.ok());
  EXPECT_NE(spec.error().text.find("gptq"), std::string::npos);
  for (const char* bad : {"[]", "3", "{}", R"({"quant_method": "gptq", "bits": 3})",
                          R"({"quant_method": "compressed-tensors"})",
                          R"({"quant_method": "fp8", "weight_block_size": [-1, 0]})",
                          R"({"quant_method": "awq", "modules_to_not_convert": [7]})"}) {
    EXPECT_FALSE(read(kDense, bad).ok()) << bad;
  }
}

TEST(Modules, HostilePatternsCostNoTime) {
  const std::string nested = "re:" + std::string(140, '(') + "a" + std::string(140, ')') + "*";
  for (const std::string& pattern :
       {std::string("re:(a*)*(a*)*(a*)*b"), nested, std::string("re:(.*.*)*x"),
        std::string("re:[unclosed"), std::string(10000, '*'), std::string("re:(\\1)*")}) {
    module_matches(pattern, "model.layers.3.self_attn.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
  }
}

Precision resolved(const ModelSpec& spec, const char* system, const char* framework,
                   const std::vector<QuantOverride>& overrides = {}) {
  const auto sys = hw::find_system(system).value();
  const auto version = framework::current_version(framework, system).value();
  return resolve_precision(spec, framework::find_facts(framework, version).value(), sys, overrides)
      .value();
}

TEST(Precision, KvIsNeverSilentlyFp8) {
  const auto spec = read_model("Qwen/Qwen3-32B-FP8", "", 90).value();
  for (const char* framework : {"vllm", "sglang", "trtllm"}) {
    EXPECT_EQ(resolved(spec, "h200_sxm", framework).kv, Quant::bfloat16) << framework;
  }
  const auto named = read_model("nvidia/Llama-3.1-70B-Instruct-FP8", "", 90).value();
  EXPECT_EQ(resolved(named, "h200_sxm", "trtllm").kv, Quant::fp8);
  EXPECT_EQ(resolved(named, "h200_sxm", "vllm", {{"kv", "bfloat16"}}).kv, Quant::bfloat16);
}

TEST(Precision, Nvfp4OnOlderGpusIsWeightOnly) {
  const auto spec = read_model("nvidia/DeepSeek-V3.1-NVFP4", "", 90).value();
  const auto h200 = resolved(spec, "h200_sxm", "vllm");
  EXPECT_EQ(h200.moe, Quant::nvfp4_wo);
  EXPECT_EQ(h200.attn_o, Quant::nvfp4_wo);
  EXPECT_EQ(h200.attn_q, Quant::bfloat16);
  EXPECT_EQ(resolved(spec, "gb300", "vllm").moe, Quant::nvfp4);  // sm 103
}

// TensorRT-LLM quantises activations where fp4 units are (its get_mxfp4_quant_algo).
TEST(Precision, Mxfp4ExpertsFollowTheFrameworkOnBlackwell) {
  const auto spec = read_model("openai/gpt-oss-120b", "", 100).value();
  const auto moe = [&](const char* framework, const char* system) {
    return resolved(spec, system, framework).moe;
  };
  EXPECT_EQ(moe("trtllm", "b200_sxm"), Quant::w4a8_mxfp4_mxfp8);
  EXPECT_EQ(moe("trtllm", "h200_sxm"), Quant::w4a16_mxfp4);
  EXPECT_EQ(moe("vllm", "b200_sxm"), Quant::w4a16_mxfp4);
}

TEST(Precision, Fp8OnGpusWithoutItNamesTheWayOut) {
  const auto spec = read_model("Qwen/Qwen3-32B-FP8", "", 80).value();
  const auto system = hw::find_system("a100_sxm").value();
  const auto facts =
      framework::find_facts("vllm", framework::current_version("vllm", "a100_sxm").value()).value();
  const auto refused = resolve_precision(spec, facts, system, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text.find("--precision bf16"), std::string::npos);
  EXPECT_TRUE(resolve_precision(spec, facts, system, {{"gemm", "int8_wo"}}).ok());
}

TEST(Precision, UnknownOverridesAreRefusedWithTheValidOnes) {
  const auto spec = read_model("Qwen/Qwen3-32B", "", 90).value();
  const auto system = hw::find_system("h200_sxm").value();
  const auto facts =
      framework::find_facts("vllm", framework::current_version("vllm", "h200_sxm").value()).value();
  const auto key = resolve_precision(spec, facts, system, {{"gem", "fp8"}});
  ASSERT_FALSE(key.ok());
  EXPECT_NE(key.error().text.find("gemm"), std::string::npos);
  const auto mode = resolve_precision(spec, facts, system, {{"kv", "fp7"}});
  ASSERT_FALSE(mode.ok());
  EXPECT_NE(mode.error().text.find("fp8"), std::string::npos);
}

TEST(Precision, AskedPrecisionTakesThePublishedCheckpointElseTheRule) {
  EXPECT_EQ(read_model("deepseek-ai/DeepSeek-R1", "fp8", 90)->quant.gemm, Quant::fp8_block);
  EXPECT_TRUE(read_model("deepseek-ai/DeepSeek-R1", "fp4", 100)->quant.attn_q_excluded);
  EXPECT_EQ(read_model("meta-llama/Llama-3.1-70B", "fp8", 90)->quant.kv, Quant::fp8);
  EXPECT_EQ(read_model("Qwen/Qwen3-235B-A22B", "fp8", 90)->id, "Qwen/Qwen3-235B-A22B-FP8");
  EXPECT_EQ(read_model("meta-llama/Llama-3.1-8B-Instruct", "fp8", 90)->quant.gemm, Quant::fp8);
  const auto moe = "mistralai/Mixtral-8x7B-v0.1";
  EXPECT_EQ(read_model(moe, "fp8", 90)->quant.moe, Quant::fp8_block);
  EXPECT_EQ(read_model(moe, "fp8", 100)->quant.moe, Quant::fp8);
  EXPECT_EQ(read_model(moe, "int4", 90)->quant.moe, Quant::int4_wo);
  EXPECT_EQ(read_model("Qwen/Qwen3-32B-FP8", "bf16", 90)->quant.gemm, Quant::bfloat16);
  EXPECT_EQ(read_model("openai/gpt-oss-120b", "fp4", 100)->quant.moe, Quant::w4a16_mxfp4);
  EXPECT_FALSE(read_model("openai/gpt-oss-120b", "fp5", 100).ok());
}

}  // namespace
}  // namespace setpoint::model
