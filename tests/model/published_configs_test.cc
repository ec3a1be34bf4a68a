// SPDX-License-Identifier: Apache-2.0
// config.json files as they are published, with the fields that cost nothing, nulls and wrappers
// left in: parameters of the models' cards and KV elements per token counted by hand. Facts from
// general knowledge of the published files, not downloaded again.
#include <gtest/gtest.h>

#include "model/plan.h"
#include "model/read.h"

namespace setpoint::model {
namespace {

struct Published {
  const char* id;
  const char* config;
  double parameters, tolerance;
  double kv_elements;  // of one token in a sequence shorter than every window
  double kept;         // tokens x layers that a sequence of 100,000 tokens keeps
};

const Published kPublished[] = {
    {"meta-llama/Llama-3.1-8B-Instruct", R"({"architectures": ["LlamaForCausalLM"],
      "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000,
      "eos_token_id": [128001, 128008, 128009], "hidden_act": "silu", "hidden_size": 4096,
      "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 131072,
      "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32,
      "num_hidden_layers": 32, "num_key_value_heads": 8, "pretraining_tp": 1,
      "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0,
      "high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"},
      "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "use_cache": true, "vocab_size": 128256})",
     8030261248, 0, 32 * 2 * 8 * 128, 32 * 1e5},
    {"mistralai/Mistral-7B-Instruct-v0.2", R"({"architectures": ["MistralForCausalLM"],
      "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
      "max_position_embeddings": 32768, "model_type": "mistral", "num_attention_heads": 32,
      "num_hidden_layers": 32, "num_key_value_heads": 8, "rope_theta": 1000000.0,
      "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "vocab_size": 32000})",
     7241732096, 0, 32 * 2 * 8 * 128, 32 * 1e5},
    {"Qwen/Qwen2.5-7B-Instruct", R"({"architectures": ["Qwen2ForCausalLM"],
      "hidden_size": 3584, "intermediate_size": 18944, "max_position_embeddings": 32768,
      "max_window_layers": 28, "model_type": "qwen2", "num_attention_heads": 28,
      "num_hidden_layers": 28, "num_key_value_heads": 4, "sliding_window": 131072,
      "tie_word_embeddings": false, "use_sliding_window": false, "vocab_size": 152064})",
     7615616512, 0, 28 * 2 * 4 * 128, 28 * 1e5},
    {"microsoft/phi-4", R"({"architectures": ["Phi3ForCausalLM"], "attention_bias": false,
      "auto_map": {}, "embd_pdrop": 0.0, "hidden_size": 5120, "intermediate_size": 17920,
      "max_position_embeddings": 16384, "model_type": "phi3", "num_attention_heads": 40,
      "num_hidden_layers": 40, "num_key_value_heads": 10, "original_max_position_embeddings": 16384,
      "rope_scaling": null, "rope_theta": 250000, "sliding_window": null,
      "tie_word_embeddings": false, "vocab_size": 100352})",
     14659507200, 0, 40 * 2 * 10 * 128, 40 * 1e5},
    // five layers of 1024 tokens, then a full one: 10 full layers of 62
    {"google/gemma-3-27b-it", R"({"architectures": ["Gemma3ForConditionalGeneration"],
      "boi_token_index": 255999, "mm_tokens_per_image": 256, "model_type": "gemma3",
      "text_config": {"head_dim": 128, "hidden_size": 5376, "intermediate_size": 21504,
        "model_type": "gemma3_text", "num_attention_heads": 32, "num_hidden_layers": 62,
        "num_key_value_heads": 16, "query_pre_attn_scalar": 168,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024},
      "vision_config": {"hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16,
        "num_hidden_layers": 27, "patch_size": 14}})",
     27.0e9, 0.01, 62 * 2 * 16 * 128, 10 * 1e5 + 52 * 1024},
    {"zai-org/GLM-4.5-Air", R"({"architectures": ["Glm4MoeForCausalLM"], "attention_bias": true,
      "eos_token_id": [151329, 151336], "first_k_dense_replace": 1, "head_dim": 128,
      "hidden_size": 4096, "intermediate_size": 10944, "max_position_embeddings": 131072,
      "moe_intermediate_size": 1408, "n_group": 1, "n_routed_experts": 128, "n_shared_experts": 1,
      "norm_topk_prob": true, "num_attention_heads": 96, "num_experts_per_tok": 8,
      "num_hidden_layers": 46, "num_key_value_heads": 8, "num_nextn_predict_layers": 1,
      "partial_rotary_factor": 0.5, "rope_scaling": null, "routed_scaling_factor": 1.0,
      "topk_group": 1, "use_qk_norm": false, "vocab_size": 151552})",
     106e9, 0.01, 46 * 2 * 8 * 128, 46 * 1e5},
    {"mistralai/Mixtral-8x7B-Instruct-v0.1", R"({"architectures": ["MixtralForCausalLM"],
      "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 32768,
      "num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32,
      "num_key_value_heads": 8, "num_local_experts": 8, "output_router_logits": false,
      "router_aux_loss_coef": 0.02, "sliding_window": null, "vocab_size": 32000})",
     46702792704, 0, 32 * 2 * 8 * 128, 32 * 1e5},
    {"deepseek-ai/DeepSeek-V2-Lite", R"({"architectures": ["DeepseekV2ForCausalLM"],
      "attention_bias": false, "aux_loss_alpha": 0.001, "first_k_dense_replace": 1,
      "hidden_size": 2048, "intermediate_size": 10944, "kv_lora_rank": 512,
      "max_position_embeddings": 163840, "moe_intermediate_size": 1408, "moe_layer_freq": 1,
      "n_group": 1, "n_routed_experts": 64, "n_shared_experts": 2, "num_attention_heads": 16,
      "num_experts_per_tok": 6, "num_hidden_layers": 27, "num_key_value_heads": 16,
      "q_lora_rank": null, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "rope_scaling": {"factor": 40, "type": "yarn"}, "topk_method": "greedy",
      "v_head_dim": 128, "vocab_size": 102400})",
     15706484224, 0, 27 * (512 + 64), 27 * 1e5},
    {"moonshotai/Kimi-K2-Instruct", R"({"architectures": ["DeepseekV3ForCausalLM"],
      "first_k_dense_replace": 1, "hidden_size": 7168, "intermediate_size": 18432,
      "kv_lora_rank": 512, "max_position_embeddings": 131072, "model_type": "kimi_k2",
      "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 1, "n_routed_experts": 384,
      "n_shared_experts": 1, "num_attention_heads": 64, "num_experts_per_tok": 8,
      "num_hidden_layers": 61, "num_key_value_heads": 64, "num_nextn_predict_layers": 0,
      "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "quantization_config": {"activation_scheme": "dynamic", "fmt": "e4m3",
        "quant_method": "fp8", "weight_block_size": [128, 128]},
      "scoring_func": "sigmoid", "v_head_dim": 128, "vocab_size": 163840})",
     1.026e12, 0.001, 61 * (512 + 64), 61 * 1e5}};

TEST(PublishedConfigs, GiveTheirPublishedSizeAndCache) {
  for (const Published& p : kPublished) {
    const auto spec = read_config({p.id, p.config, std::nullopt, p.id});
    ASSERT_TRUE(spec.ok()) << spec.error().text;
    EXPECT_NEAR(static_cast<double>(spec->parameters()) / p.parameters, 1,
                p.tolerance > 0 ? p.tolerance : 1e-12)
        << p.id << ": " << spec->parameters();
    const KvFootprint kv = kv_footprint(*spec, {}, ops::Quant::int8, false);  // a byte an element
    EXPECT_DOUBLE_EQ(kv.bytes_per_token(), p.kv_elements) << p.id;
    const double per_layer = p.kv_elements / static_cast<double>(spec->layer_count());
    EXPECT_DOUBLE_EQ(kv.bytes(1e5), p.kept * per_layer) << p.id;
  }
}

}  // namespace
}  // namespace setpoint::model
