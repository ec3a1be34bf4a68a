// SPDX-License-Identifier: Apache-2.0
// KV cache of one sequence on one GPU of the pipeline stage that holds most of it.
#include <algorithm>

#include "model/plan.h"
#include "model/weights.h"

namespace setpoint::model {
namespace {

double elements_per_token(const Attention& a, int tp) {
  if (a.kind == AttentionKind::mla) {  // the latent and the shared rotary key, on every GPU
    return static_cast<double>(a.kv_lora_rank + a.qk_rope_dim);
  }
  return static_cast<double>(local_kv_heads(a, tp) * (a.head_dim + a.v_head_dim));
}

void add(KvFootprint& kv, double bytes_per_token, std::int64_t window) {
  if (bytes_per_token == 0) return;
  for (KvClass& c : kv.classes) {
    if (c.window == window) {
      c.bytes_per_token += bytes_per_token;
      return;
    }
  }
  kv.classes.push_back({bytes_per_token, window});
}

}  // namespace

double KvFootprint::bytes(double tokens) const {
  double sum = bytes_per_sequence;
  for (const KvClass& c : classes) {
    const double kept = c.window > 0 ? std::min(tokens, static_cast<double>(c.window)) : tokens;
    sum += c.bytes_per_token * kept;
  }
  return sum;
}

double KvFootprint::bytes_per_token() const {
  double sum = 0;
  for (const KvClass& c : classes) sum += c.bytes_per_token;
  return sum;
}

KvFootprint kv_footprint(const ModelSpec& model, const Shard& shard, ops::Quant format,
                         bool with_draft_layers) {
  KvFootprint fullest;
  const auto all = stages(model.layer_count(), shard.pp);
  for (std::size_t s = 0; s < all.size(); ++s) {
    KvFootprint kv;
    auto counts = group_counts(model, all[s]);
    if (with_draft_layers && s + 1 == all.size()) counts[model.order.back()] += model.mtp_layers;
    for (std::size_t g = 0; g < counts.size(); ++g) {
      const Attention& a = model.layers[g].attention;
      add(kv, static_cast<double>(counts[g]) * elements_per_token(a, shard.tp) * ops::bytes(format),
          a.window);
    }
    // Stages are compared where windows are long since full.
    constexpr double kLong = 1 << 20;
    if (kv.bytes(kLong) > fullest.bytes(kLong)) fullest = kv;
  }
  return fullest;
}

}  // namespace setpoint::model
