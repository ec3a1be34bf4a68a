// SPDX-License-Identifier: Apache-2.0
// A language model as its published config.json describes it, reduced to what costs time or memory.
// Made by rules over fields (src/model/read.h), never by a list of names. Sizes are whole-model;
// element counts unless the name says bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/quant.h"

namespace setpoint::model {

enum class AttentionKind : std::uint8_t { gqa, mla };  // state-space and sparse kinds come here

struct Attention {
  AttentionKind kind = AttentionKind::gqa;
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t head_dim = 0, v_head_dim = 0;  // q/k and v widths of one head
  std::int64_t window = 0;                    // sliding window in tokens, 0 = full
  bool qk_norm = false;
  bool qk_norm_whole = false;  // one norm over all heads instead of one per head's width
  bool qkv_bias = false, out_bias = false, sinks = false;  // small weights, counted for size
  bool output_gate = false;                                // q projection twice as wide
  // multi-head latent attention
  std::int64_t q_lora_rank = 0;  // 0 = q projected directly
  std::int64_t kv_lora_rank = 0, qk_nope_dim = 0, qk_rope_dim = 0;
  bool operator==(const Attention&) const = default;
};

struct Ffn {
  bool moe = false;
  bool gated = true;       // gate and up projections (SwiGLU kind)
  std::int64_t inter = 0;  // width of the dense block or of one routed expert
  std::int64_t experts = 0, topk = 0;
  std::int64_t shared_inter = 0;  // summed width of the shared experts, 0 = none
  bool shared_gate = false;       // a sigmoid gate [hidden, 1] on the shared expert
  bool bias = false, router_bias = false;
  bool operator==(const Ffn&) const = default;
};

// All layers of one kind, wherever they stand (ModelSpec::order tells).
struct LayerGroup {
  std::int64_t count = 0;
  Attention attention;
  Ffn ffn;
  std::int64_t norms = 2;  // norm weights of the hidden width
  bool norm_bias = false;  // LayerNorm instead of RMSNorm
  bool parallel = false;   // attention and feed-forward read the same input: one all-reduce
  bool operator==(const LayerGroup&) const = default;
};

// Number formats of the checkpoint. Parts the checkpoint excludes from quantisation stay bf16.
struct CheckpointQuant {
  std::string method;  // as the checkpoint names it, "" = none
  ops::Quant gemm = ops::Quant::bfloat16;
  ops::Quant moe = ops::Quant::bfloat16;
  std::optional<ops::Quant> kv;  // only if the checkpoint names one
  bool attn_q_excluded = false, attn_kv_excluded = false, attn_o_excluded = false;
  bool shared_excluded = false, dense_ffn_excluded = false;
  bool lm_head_quantised = false;
  std::int64_t block = 0;  // rows and columns of one scale in block formats
  bool operator==(const CheckpointQuant&) const = default;
};

struct ModelSpec {
  std::string id;  // as the user gave it, resolved
  std::string architecture;
  std::string family;  // label for people: dense, moe, mla, gpt-oss ...
  std::int64_t hidden = 0, vocab = 0, max_positions = 0;
  bool tied_embeddings = false;
  std::vector<LayerGroup> layers;
  std::vector<std::uint8_t> order;  // index into `layers` of each layer, first to last
  std::int64_t mtp_layers = 0;      // multi-token-prediction layers that ship with the checkpoint
  CheckpointQuant quant;
  bool quant_assumed = false;         // no such checkpoint is known: `id` names a 16-bit one
  double alpha = 1.2;                 // power-law exponent of expert loads, perfdb/families.json
  std::vector<std::string> warnings;  // assumptions made while reading

  std::int64_t layer_count() const;
  bool is_moe() const;
  // All weights of the model in elements: norms, biases, embeddings and head counted once, the
  // multi-token-prediction layers left out (published counts leave them out too).
  std::int64_t parameters() const;
};

// How one worker is cut: GPUs = tp * pp * dp * cp; for models with experts also
// moe_tp * moe_ep = tp * dp * cp.
struct Shard {
  int tp = 1, pp = 1, dp = 1, moe_tp = 1, moe_ep = 1, cp = 1;
  int gpus() const { return tp * pp * dp * cp; }
  bool operator==(const Shard&) const = default;
};

// Formats as served: the checkpoint's, the framework's defaults and the user's overrides resolved.
struct Precision {
  ops::Quant gemm = ops::Quant::bfloat16;
  ops::Quant moe = ops::Quant::bfloat16;
  ops::Quant kv = ops::Quant::bfloat16;
  ops::Quant fmha = ops::Quant::bfloat16;
  ops::Quant comm = ops::Quant::half;
  // parts left out of quantisation by the checkpoint
  ops::Quant attn_q = ops::Quant::bfloat16, attn_kv = ops::Quant::bfloat16,
             attn_o = ops::Quant::bfloat16;
  ops::Quant shared = ops::Quant::bfloat16, dense_ffn = ops::Quant::bfloat16;
  ops::Quant lm_head = ops::Quant::bfloat16;
  bool operator==(const Precision&) const = default;
};

}  // namespace setpoint::model
