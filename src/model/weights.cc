// SPDX-License-Identifier: Apache-2.0
#include "model/weights.h"

#include <algorithm>
#include <cmath>

namespace setpoint::model {
namespace {

constexpr std::int64_t kDefaultInt4Group = 128;  // AWQ and GPTQ checkpoints' usual group size
constexpr std::int64_t kDefaultFp8Block = 128;
constexpr double kBytes16 = 2;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

void add_gqa(std::vector<Tensor>& out, const Attention& a, std::int64_t hidden, int tp) {
  const std::int64_t heads = ceil_div(a.heads, tp);
  const std::int64_t kv = local_kv_heads(a, tp);
  const std::int64_t q_rows = heads * a.head_dim * (a.output_gate ? 2 : 1);
  out.push_back({Part::attn_q, 1, q_rows, hidden});
  out.push_back({Part::attn_kv, 1, kv * (a.head_dim + a.v_head_dim), hidden});
  out.push_back({Part::attn_o, 1, hidden, heads * a.v_head_dim});
  if (a.qkv_bias) out.push_back({Part::plain, 1, q_rows + kv * (a.head_dim + a.v_head_dim)});
  if (a.out_bias) out.push_back({Part::plain, 1, hidden});
  if (a.sinks) out.push_back({Part::plain, 1, heads});
  if (a.qk_norm) {
    out.push_back({Part::plain, 1, a.qk_norm_whole ? (heads + kv) * a.head_dim : 2 * a.head_dim});
  }
}

void add_mla(std::vector<Tensor>& out, const Attention& a, std::int64_t hidden, int tp) {
  const std::int64_t heads = ceil_div(a.heads, tp);
  const std::int64_t q_rows = heads * (a.qk_nope_dim + a.qk_rope_dim);
  if (a.q_lora_rank > 0) {
    out.push_back({Part::attn_q, 1, a.q_lora_rank, hidden});
    out.push_back({Part::attn_q, 1, q_rows, a.q_lora_rank});
    out.push_back({Part::plain, 1, a.q_lora_rank});
  } else {
    out.push_back({Part::attn_q, 1, q_rows, hidden});
  }
  out.push_back({Part::attn_kv, 1, a.kv_lora_rank + a.qk_rope_dim, hidden});
  out.push_back({Part::attn_kv, 1, heads * (a.qk_nope_dim + a.v_head_dim), a.kv_lora_rank});
  out.push_back({Part::plain, 1, a.kv_lora_rank});
  out.push_back({Part::attn_o, 1, hidden, heads * a.v_head_dim});
}

void add_mlp(std::vector<Tensor>& out, Part part, std::int64_t copies, std::int64_t inter,
             std::int64_t hidden, bool gated, bool bias) {
  const std::int64_t up = inter * (gated ? 2 : 1);
  out.push_back({part, copies, up, hidden});
  out.push_back({part, copies, hidden, inter});
  if (bias) out.push_back({Part::plain, copies, up + hidden});
}

void add_ffn(std::vector<Tensor>& out, const Ffn& f, std::int64_t hidden, const Shard& s) {
  if (!f.moe) {
    add_mlp(out, Part::dense_ffn, 1, ceil_div(f.inter, s.tp), hidden, f.gated, f.bias);
    return;
  }
  add_mlp(out, Part::experts, ceil_div(f.experts, s.moe_ep), ceil_div(f.inter, s.moe_tp), hidden,
          f.gated, f.bias);
  out.push_back({Part::plain, 1, f.experts, hidden});
  if (f.router_bias) out.push_back({Part::plain, 1, f.experts});
  if (f.shared_inter > 0) {
    add_mlp(out, Part::shared, 1, ceil_div(f.shared_inter, s.tp), hidden, f.gated, false);
  }
  if (f.shared_gate) out.push_back({Part::plain, 1, hidden});
}

double bytes_of(const std::vector<Tensor>& tensors, const Precision& precision,
                std::int64_t block) {
  double sum = 0;
  for (const Tensor& t : tensors) sum += stored_bytes(t, format_of(t.part, precision), block);
  return sum;
}

// Embedding on the first stage, final norm and head on the last; a tied head is a copy of its own
// only where the embedding lies on another GPU.
double ends_bytes(const ModelSpec& model, const Shard& shard, const Precision& precision,
                  bool first, bool last) {
  const Tensor table{Part::plain, 1, ceil_div(model.vocab, shard.tp), model.hidden};
  double bytes = 0;
  if (first) bytes += stored_bytes(table, ops::Quant::bfloat16, 0);
  if (last) {
    bytes += kBytes16 * static_cast<double>(model.hidden);
    if (!(first && model.tied_embeddings)) {
      bytes += stored_bytes(table, precision.lm_head, model.quant.block);
    }
  }
  return bytes;
}

}  // namespace

std::int64_t ModelSpec::layer_count() const {
  std::int64_t count = 0;
  for (const LayerGroup& group : layers) count += group.count;
  return count;
}

bool ModelSpec::is_moe() const {
  return std::any_of(layers.begin(), layers.end(), [](const auto& g) { return g.ffn.moe; });
}

std::int64_t ModelSpec::parameters() const {
  const auto table = static_cast<double>(vocab) * static_cast<double>(hidden);
  const double final_norm = static_cast<double>(hidden) * (layers.back().norm_bias ? 2 : 1);
  double sum = table * (tied_embeddings ? 1 : 2) + final_norm;
  for (const LayerGroup& group : layers) {
    sum += static_cast<double>(group.count) * elements(layer_tensors(group, hidden, Shard{}));
  }
  return std::llround(sum);
}

std::int64_t local_kv_heads(const Attention& attention, int tp) {
  return ceil_div(attention.kv_heads, tp);
}

std::vector<Tensor> layer_tensors(const LayerGroup& layer, std::int64_t hidden,
                                  const Shard& shard) {
  std::vector<Tensor> out;
  if (layer.attention.kind == AttentionKind::mla) {
    add_mla(out, layer.attention, hidden, shard.tp);
  } else {
    add_gqa(out, layer.attention, hidden, shard.tp);
  }
  add_ffn(out, layer.ffn, hidden, shard);
  out.push_back({Part::plain, layer.norms, layer.norm_bias ? 2 * hidden : hidden});
  return out;
}

std::vector<Tensor> draft_tensors(std::int64_t hidden) {
  // projection of [embedding, hidden state] plus the norms of both and of the output
  return {{Part::plain, 1, hidden, 2 * hidden}, {Part::plain, 3, hidden}};
}

double elements(const std::vector<Tensor>& tensors) {
  double sum = 0;
  for (const Tensor& t : tensors) {
    sum +=
        static_cast<double>(t.copies) * static_cast<double>(t.rows) * static_cast<double>(t.cols);
  }
  return sum;
}

ops::Quant format_of(Part part, const Precision& p) {
  const std::array formats{p.attn_q, p.attn_kv, p.attn_o,  p.dense_ffn,
                           p.moe,    p.shared,  p.lm_head, ops::Quant::bfloat16};
  return formats[index(part)];
}

double stored_bytes(const Tensor& tensor, ops::Quant quant, std::int64_t block) {
  const auto copies = static_cast<double>(tensor.copies);
  const double count = elements({tensor});
  double scales = 0;
  switch (quant) {
    case ops::Quant::fp8_block: {
      const std::int64_t side = block > 0 ? block : kDefaultFp8Block;
      scales = 4 * copies *
               static_cast<double>(ceil_div(tensor.rows, side) * ceil_div(tensor.cols, side));
      break;
    }
    case ops::Quant::int4_wo:
    case ops::Quant::w4afp8:
      scales = kBytes16 * count / static_cast<double>(block > 0 ? block : kDefaultInt4Group);
      break;
    case ops::Quant::w4a16_mxfp4:
    case ops::Quant::w4a16_mxfp4_cutlass:
    case ops::Quant::w4a8_mxfp4_mxfp8:
    case ops::Quant::w4a8_mxfp4_mxfp8_trtllm:
      scales = count / 32;  // OCP microscaling: one e8m0 byte per 32 elements
      break;
    default:
      break;
  }
  return count * ops::bytes(quant) + scales;
}

std::vector<Stage> stages(std::int64_t layers, int pp) {
  std::vector<Stage> out;
  std::int64_t next = 0;
  for (int i = 0; i < pp; ++i) {
    const std::int64_t size = layers / pp + (i < layers % pp ? 1 : 0);
    out.push_back({next, next + size});
    next += size;
  }
  return out;
}

std::vector<std::int64_t> group_counts(const ModelSpec& model, const Stage& stage) {
  std::vector<std::int64_t> counts(model.layers.size(), 0);
  for (std::int64_t i = stage.first; i < stage.last; ++i) {
    ++counts[model.order[static_cast<std::size_t>(i)]];
  }
  return counts;
}

double weight_bytes(const ModelSpec& model, const Shard& shard, const Precision& precision,
                    bool with_draft_layers) {
  std::vector<double> per_layer;
  for (const LayerGroup& group : model.layers) {
    per_layer.push_back(
        bytes_of(layer_tensors(group, model.hidden, shard), precision, model.quant.block));
  }
  const auto all = stages(model.layer_count(), shard.pp);
  double fullest = 0;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const bool last = s + 1 == all.size();
    double bytes = ends_bytes(model, shard, precision, s == 0, last);
    const auto counts = group_counts(model, all[s]);
    for (std::size_t g = 0; g < counts.size(); ++g) {
      bytes += static_cast<double>(counts[g]) * per_layer[g];
    }
    if (last && with_draft_layers) {
      bytes += static_cast<double>(model.mtp_layers) *
               (per_layer[model.order.back()] +
                bytes_of(draft_tensors(model.hidden), precision, model.quant.block));
    }
    fullest = std::max(fullest, bytes);
  }
  return fullest;
}

}  // namespace setpoint::model
