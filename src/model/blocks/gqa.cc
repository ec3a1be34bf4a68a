// SPDX-License-Identifier: Apache-2.0
// Attention with (grouped) key and value heads: heads cut by tp, KV heads repeated where tp exceeds
// their number.
#include "model/blocks/emit.h"
#include "model/weights.h"

namespace setpoint::model::blocks {
namespace {

// An RMS norm of queries and keys, per head or over all: both are read and written in 16 bits.
double norm_bytes(std::int64_t width) { return 2 * 2 * static_cast<double>(width); }

}  // namespace

void gqa(Emitter& out, const LayerGroup& layer) {
  const Attention& a = layer.attention;
  const Shard& s = out.in.shard;
  const Precision& p = out.in.precision;
  const std::int64_t h = out.in.model.hidden;
  const std::int64_t heads = a.heads / s.tp;
  const std::int64_t kv_heads = local_kv_heads(a, s.tp);
  const std::int64_t q_width = heads * a.head_dim * (a.output_gate ? 2 : 1);

  out.add("add_norm_1", norm(h));
  out.add("qkv_gemm", ops::Gemm{p.attn_q, q_width + kv_heads * (a.head_dim + a.v_head_dim), h});
  if (a.qk_norm) out.add("qk_norm", ops::Elementwise{norm_bytes((heads + kv_heads) * a.head_dim)});
  out.add("attention", ops::ContextAttention{heads, kv_heads, a.head_dim, a.window, p.kv, p.fmha},
          {.drive = Drive::prompts, .phase = Phase::prefill});
  out.add("attention", ops::GenerationAttention{heads, kv_heads, a.head_dim, a.window, p.kv},
          {.drive = Drive::decodes, .phase = Phase::decode});
  gather_kv(out, static_cast<double>(kv_heads * (a.head_dim + a.v_head_dim)));
  out.add("proj_gemm", ops::Gemm{p.attn_o, h, heads * a.v_head_dim});
}

}  // namespace setpoint::model::blocks
