// SPDX-License-Identifier: Apache-2.0
#include "model/layers.h"

#include <fmt/format.h>

#include <algorithm>

namespace setpoint::model {
namespace {

// Bounds of every size read: far above any model known, low enough that no product overflows.
constexpr std::int64_t kMostLayers = 2000;
constexpr std::int64_t kMostHeads = 1 << 14;
constexpr std::int64_t kMostHeadDim = 1 << 14;
constexpr std::int64_t kMostWidth = 1 << 22;
constexpr std::int64_t kMostExperts = 1 << 16;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;

const Names kLayers{"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
const Names kHeads{"num_attention_heads", "n_head", "n_heads"};
const Names kInter{"intermediate_size", "ffn_hidden_size", "n_inner"};

Attention read_gqa(Fields& f, std::int64_t hidden) {
  Attention a;
  a.heads = f.need(kHeads, kMostHeads);
  a.kv_heads = f.flag({"multi_query"}, false)
                   ? 1
                   : f.number({"num_key_value_heads", "num_kv_heads", "multi_query_group_num"}, 1,
                              kMostHeads, a.heads);
  a.head_dim = f.number({"head_dim", "attention_head_dim", "kv_channels"}, 1, kMostHeadDim, 0);
  if (a.head_dim == 0) {
    if (hidden % a.heads != 0) {
      f.fail(Error::bad_input(fmt::format(
          "hidden_size {} is not a multiple of num_attention_heads {} and head_dim is not given",
          hidden, a.heads)));
    }
    a.head_dim = std::max<std::int64_t>(1, hidden / a.heads);
  }
  a.v_head_dim = f.number({"v_head_dim"}, 1, kMostHeadDim, a.head_dim);
  if (a.kv_heads > a.heads || a.heads % a.kv_heads != 0) {
    f.fail(Error::bad_input(
        fmt::format("num_attention_heads {} is not a multiple of num_key_value_heads {}", a.heads,
                    a.kv_heads)));
  }
  a.qk_norm = f.flag({"use_qk_norm", "qk_norm", "qk_layernorm"}, false);
  a.qk_norm_whole = f.flag({"qk_norm_whole"}, false);
  a.qkv_bias = f.flag({"attention_bias", "qkv_bias", "add_qkv_bias", "use_bias"}, false);
  a.out_bias = f.flag({"out_bias"}, f.flag({"attention_bias", "use_bias"}, false));
  a.sinks = f.flag({"sinks"}, false);
  return a;
}

Attention read_mla(Fields& f) {
  Attention a;
  a.kind = AttentionKind::mla;
  a.heads = f.need(kHeads, kMostHeads);
  a.kv_heads = a.heads;
  a.q_lora_rank = f.number({"q_lora_rank"}, 0, kMostWidth, 0);
  a.kv_lora_rank = f.need({"kv_lora_rank"}, kMostWidth);
  a.qk_nope_dim = f.need({"qk_nope_head_dim"}, kMostHeadDim);
  a.qk_rope_dim = f.need({"qk_rope_head_dim"}, kMostHeadDim);
  a.v_head_dim = f.need({"v_head_dim"}, kMostHeadDim);
  a.head_dim = a.qk_nope_dim + a.qk_rope_dim;
  return a;
}

Ffn read_dense(Fields& f, std::int64_t hidden) {
  Ffn ffn;
  ffn.gated = f.flag({"gated"}, true);
  // GPT-2 and its kin leave the width out, or null, and mean four times the hidden width.
  ffn.inter = !ffn.gated && !f.has(kInter) ? 4 * hidden : f.need(kInter, kMostWidth);
  ffn.bias = f.flag({"mlp_bias"}, f.flag({"use_bias"}, false));
  return ffn;
}

Ffn read_experts(Fields& f, std::int64_t experts) {
  Ffn ffn;
  ffn.moe = true;
  ffn.gated = f.flag({"gated"}, true);
  ffn.experts = experts;
  ffn.topk = f.need({"num_experts_per_tok", "num_experts_per_token", "top_k_experts", "moe_top_k",
                     "moe_topk", "moe_k", "experts_per_token"},
                    experts);
  ffn.inter = f.has({"moe_intermediate_size"}) ? f.need({"moe_intermediate_size"}, kMostWidth)
                                               : f.need(kInter, kMostWidth);
  const std::int64_t shared = f.number(
      {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"}, 0, kMostExperts, 0);
  ffn.shared_inter = f.number({"shared_expert_intermediate_size",
                               "moe_shared_expert_intermediate_size", "shared_intermediate_size"},
                              0, kMostWidth, shared * ffn.inter);
  ffn.shared_gate = ffn.shared_inter > 0 && f.flag({"shared_gate"}, false);
  ffn.bias = f.flag({"mlp_bias"}, false);
  ffn.router_bias = f.flag({"router_bias", "use_routing_bias"}, false);
  return ffn;
}

// One entry per layer; the pattern fields of the published families, see the names.
std::vector<bool> expert_layers(Fields& f, std::int64_t layers) {
  std::vector<bool> out(static_cast<std::size_t>(layers), true);
  const std::int64_t dense_first =
      f.number({"first_k_dense_replace", "moe_layer_start_index"}, 0, kMostLayers, 0);
  const std::int64_t last = f.number({"moe_layer_end_index"}, -1, kMostLayers, layers - 1);
  // layer i has experts when (i + 1) is a multiple of the step
  const std::int64_t step =
      f.number({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"}, 1,
               kMostLayers, 1);
  const auto only_mlp = f.numbers({"mlp_only_layers"}, 0, kMostLayers);
  std::vector<std::int64_t> listed;
  std::int64_t every = 1;  // layer i has experts when i is a multiple of this
  if (const auto freq = f.find({"moe_layer_freq"}); freq && freq->is_array()) {
    listed = f.numbers({"moe_layer_freq"}, 0, 1);
    if (static_cast<std::int64_t>(listed.size()) < layers) {
      f.fail(freq->error(fmt::format("{} entries for {} layers", listed.size(), layers)));
      listed.resize(static_cast<std::size_t>(layers));
    }
  } else {
    every = f.number({"moe_layer_freq"}, 1, kMostLayers, 1);
  }
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool by_list = listed.empty() || listed[static_cast<std::size_t>(i)] == 1;
    const bool excluded = std::find(only_mlp.begin(), only_mlp.end(), i) != only_mlp.end();
    out[static_cast<std::size_t>(i)] = i >= dense_first && (last < 0 || i <= last) &&
                                       (i + 1) % step == 0 && i % every == 0 && by_list &&
                                       !excluded;
  }
  return out;
}

std::int64_t window_from_types(Fields& f, const std::string& type, std::int64_t window) {
  if (type == "full_attention" || type == "attention" || type == "global") return 0;
  if (type == "sliding_attention" || type == "local") {
    if (window == 0) f.fail(Error::bad_input("layer_types names windows but sliding_window is 0"));
    return window;
  }
  f.fail(Error::bad_input(
      fmt::format("layer_types: \"{}\" layers are not supported yet; supported: full_attention, "
                  "sliding_attention",
                  type.substr(0, 60))));
  return 0;
}

// Window of each layer in tokens, 0 = full.
std::vector<std::int64_t> windows(Fields& f, std::int64_t layers, std::int64_t max_positions) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(layers), 0);
  std::int64_t window = f.number({"sliding_window", "sliding_window_size"}, 0, kMostTokens, 0);
  if (max_positions > 0 && window >= max_positions) window = 0;
  if (const auto types = f.texts({"layer_types"}); !types.empty()) {
    if (static_cast<std::int64_t>(types.size()) < layers) {
      f.fail(Error::bad_input(
          fmt::format("layer_types: {} entries for {} layers", types.size(), layers)));
      return out;
    }
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = window_from_types(f, types[i], window);
    return out;
  }
  if (window == 0 || !f.flag({"use_sliding_window"}, true)) return out;
  // layer i is full when (i + 1) is a multiple of the pattern; 0 = no such layer
  const std::int64_t pattern = f.number({"sliding_window_pattern", "_sliding_window_pattern"}, 0,
                                        kMostLayers, f.flag({"alternate_windows"}, false) ? 2 : 0);
  const std::int64_t first =
      f.has({"use_sliding_window"}) ? f.number({"max_window_layers"}, 0, kMostLayers, 0) : 0;
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool full = i < first || (pattern > 0 && (i + 1) % pattern == 0);
    out[static_cast<std::size_t>(i)] = full ? 0 : window;
  }
  return out;
}

void add_layer(ModelSpec& spec, const LayerGroup& layer) {
  const auto same = std::find_if(spec.layers.begin(), spec.layers.end(), [&](const auto& g) {
    return g.attention == layer.attention && g.ffn == layer.ffn;
  });
  const auto index = static_cast<std::size_t>(same - spec.layers.begin());
  if (same == spec.layers.end()) spec.layers.push_back(layer);
  ++spec.layers[index].count;
  spec.order.push_back(static_cast<std::uint8_t>(index));
}

}  // namespace

void read_layers(Fields& f, ModelSpec& spec) {
  const std::int64_t layers = f.need(kLayers, kMostLayers);
  LayerGroup layer;
  layer.attention = f.has({"kv_lora_rank"}) ? read_mla(f) : read_gqa(f, spec.hidden);
  layer.norms = f.number({"norms"}, 0, 8, 2);
  layer.norm_bias = f.flag({"norm_bias"}, false);
  layer.parallel = f.flag({"parallel", "parallel_attn"}, false);
  const std::int64_t experts = f.number({"num_experts", "num_local_experts", "n_routed_experts",
                                         "moe_num_experts", "num_routed_experts"},
                                        0, kMostExperts, 0);
  std::vector<bool> moe(static_cast<std::size_t>(layers), false);
  if (experts > 1) moe = expert_layers(f, layers);
  const bool any_moe = std::find(moe.begin(), moe.end(), true) != moe.end();
  const bool any_dense = std::find(moe.begin(), moe.end(), false) != moe.end();
  const Ffn dense = any_dense ? read_dense(f, spec.hidden) : Ffn{};
  const Ffn routed = any_moe ? read_experts(f, experts) : Ffn{};
  const auto window = windows(f, layers, spec.max_positions);
  for (std::size_t i = 0; i < moe.size(); ++i) {
    layer.attention.window = window[i];
    layer.ffn = moe[i] ? routed : dense;
    add_layer(spec, layer);
  }
}

}  // namespace setpoint::model
