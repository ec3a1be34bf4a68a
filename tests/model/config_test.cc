// SPDX-License-Identifier: Apache-2.0
// Patterns of layers, wrappers, and what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/read.h"

namespace setpoint::model {
namespace {

std::string dense(const std::string& more, const std::string& architecture = "LlamaForCausalLM") {
  return fmt::format(R"({{"architectures": ["{}"], "hidden_size": 512, "num_hidden_layers": 6,
    "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 1024,
    "vocab_size": 1000, "max_position_embeddings": 8192{}{}}})",
                     architecture, more.empty() ? "" : ", ", more);
}
Result<ModelSpec> read(const std::string& config) {
  return read_config({"m", config, std::nullopt, ""});
}
std::vector<std::int64_t> windows(const std::string& config) {
  const auto spec = read(config);
  EXPECT_TRUE(spec.ok()) << spec.error().text;
  std::vector<std::int64_t> out;
  for (const std::uint8_t g : spec->order) out.push_back(spec->layers[g].attention.window);
  return out;
}
using Windows = std::vector<std::int64_t>;

TEST(Config, WindowsFollowEachPublishedPattern) {
  EXPECT_EQ(windows(dense("")), (Windows{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(windows(dense(R"("sliding_window": 100)")), (Windows{100, 100, 100, 100, 100, 100}));
  EXPECT_EQ(windows(dense(R"("sliding_window": 8192)")), (Windows{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(windows(dense(R"("sliding_window": 100, "sliding_window_pattern": 3)")),
            (Windows{100, 100, 0, 100, 100, 0}));
  EXPECT_EQ(windows(dense(R"("sliding_window": 100, "use_sliding_window": false)")),
            (Windows{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(windows(dense(
                R"("sliding_window": 100, "use_sliding_window": true, "max_window_layers": 4)")),
            (Windows{0, 0, 0, 0, 100, 100}));
  EXPECT_EQ(windows(dense(R"("sliding_window": 100, "layer_types": ["full_attention",
    "sliding_attention", "full_attention", "sliding_attention", "full_attention",
    "sliding_attention"])")),
            (Windows{0, 100, 0, 100, 0, 100}));
  EXPECT_EQ(windows(dense(R"("sliding_window": 100)", "GptOssForCausalLM")),
            (Windows{100, 0, 100, 0, 100, 0}));
}

std::vector<bool> moe_layers(const std::string& more) {
  const auto spec = read(dense(R"("num_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 256, )" +
                               more));
  EXPECT_TRUE(spec.ok()) << spec.error().text;
  std::vector<bool> out;
  for (const std::uint8_t g : spec->order) out.push_back(spec->layers[g].ffn.moe);
  return out;
}

TEST(Config, ExpertLayersFollowEachPublishedPattern) {
  using V = std::vector<bool>;
  EXPECT_EQ(moe_layers(R"("first_k_dense_replace": 2)"), (V{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(moe_layers(R"("decoder_sparse_step": 2)"), (V{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(moe_layers(R"("mlp_only_layers": [0, 5])"), (V{0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(moe_layers(R"("moe_layer_freq": [0, 1, 1, 0, 1, 1])"), (V{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(moe_layers(R"("moe_layer_freq": 1)"), (V{1, 1, 1, 1, 1, 1}));
}

TEST(Config, UnknownArchitectureIsReadByItsFieldsWithAWarning) {
  const auto spec = read(dense("", "BrandNewForCausalLM"));
  ASSERT_TRUE(spec.ok());
  ASSERT_EQ(spec->warnings.size(), 1u);
  EXPECT_NE(spec->warnings[0].find("BrandNewForCausalLM"), std::string::npos);
}

TEST(Config, AllMissingFieldsAreNamedAtOnce) {
  const auto spec = read(R"({"architectures": ["X"], "num_hidden_layers": 2})");
  ASSERT_FALSE(spec.ok());
  for (const char* field :
       {"hidden_size", "vocab_size", "num_attention_heads", "intermediate_size"}) {
    EXPECT_NE(spec.error().text.find(field), std::string::npos) << spec.error().text;
  }
}

TEST(Config, LayersThatAreNotPricedAreRefusedByTheirField) {
  for (const auto& [field, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"index_topk", "2048"},
           {"hybrid_override_pattern", "\"M-M*\""},
           {"linear_attn_config", R"({"kda_layers": [1]})"},
           {"attn_type_list", "[0, 1, 0, 1, 0, 1]"}}) {
    const auto spec = read(dense(fmt::format("\"{}\": {}", field, value)));
    ASSERT_FALSE(spec.ok()) << field;
    EXPECT_NE(spec.error().text.find(field), std::string::npos) << spec.error().text;
  }
  const auto linear = read(dense(R"("layer_types": ["linear_attention", "full_attention",
    "linear_attention", "full_attention", "linear_attention", "full_attention"])"));
  ASSERT_FALSE(linear.ok());
  EXPECT_NE(linear.error().text.find("linear_attention"), std::string::npos);
  EXPECT_FALSE(read(dense("", "DeepseekV32ForCausalLM")).ok());
  EXPECT_TRUE(read(dense(R"("index_topk": null, "attn_type_list": [1, 1])")).ok());
}

TEST(Config, HostileConfigsAreOneLine) {
  const std::string bomb = std::string(100000, '[');
  for (const std::string& bad :
       {std::string(""),
        std::string("null"),
        std::string("[]"),
        std::string("{}"),
        bomb,
        std::string("{\"a\": ") + bomb,
        dense("\"hidden_size\": -1"),
        dense("\"head_dim\": 0"),
        dense("\"vocab_size\": 1000000000000"),
        dense("\"num_hidden_layers\": 1e99"),
        dense("\"num_hidden_layers\": \"six\""),
        dense("\"num_attention_heads\": 7"),
        dense("\"num_attention_heads\": 2.5"),
        dense("\"num_key_value_heads\": 3"),
        dense("\"num_key_value_heads\": 16"),
        dense("\"sliding_window\": -5"),
        dense("\"layer_types\": [1, 2]"),
        dense("\"layer_types\": [\"full_attention\"]"),
        dense("\"tie_word_embeddings\": 3"),
        dense("\"text_config\": {\"hidden_size\": NaN}"),
        dense("\"num_experts\": 8"),
        dense("\"num_experts\": 8, \"num_experts_per_tok\": 9"),
        dense("\"num_experts\": 65536, \"num_experts_per_tok\": 2, \"hidden_size\": 1000000, "
              "\"moe_intermediate_size\": 4000000"),
        dense("\"moe_layer_freq\": [1], \"num_experts\": 8, \"num_experts_per_tok\": 1"),
        dense("\"kv_lora_rank\": 512"),
        dense("\"architectures\": [3]"),
        dense("\"quantization_config\": \"fp8\"")}) {
    const auto spec = read(bad);
    ASSERT_FALSE(spec.ok()) << bad.substr(0, 300);
    EXPECT_EQ(spec.error().code, ErrorCode::bad_input);
    EXPECT_EQ(spec.error().text.find('\n'), std::string::npos) << spec.error().text;
    EXPECT_LT(spec.error().text.size(), 400u);
  }
}

}  // namespace
}  // namespace setpoint::model
