// SPDX-License-Identifier: Apache-2.0
// Multi-head latent attention. Prompts expand the latent to keys and values; decodes absorb that
// expansion into the query and the output (two batched products around attention on the latent).
// Where tables hold the whole block in one measured piece and its projections share one format,
// that piece is taken; else projections and attention are priced one by one.
#include "model/blocks/emit.h"

namespace setpoint::model::blocks {
namespace {

// The absorbed products keep the KV projection's weights: 16 bits unless those are in 8.
ops::Quant absorbed_format(ops::Quant kv_projection) {
  return kv_projection == ops::Quant::bfloat16 ? ops::Quant::bfloat16 : ops::Quant::fp8;
}

void one_piece(Emitter& out, const Attention& a) {
  const Precision& p = out.in.precision;
  const std::int64_t heads = a.heads / out.in.shard.tp;
  out.add("mla", ops::MlaContextModule{heads, a.heads, p.attn_q, p.kv, p.fmha},
          {.drive = Drive::prompts, .phase = Phase::prefill});
  out.add("mla", ops::MlaGenerationModule{heads, a.heads, p.attn_q, p.kv, p.fmha},
          {.drive = Drive::decodes, .phase = Phase::decode});
}

void query(Emitter& out, const Attention& a, std::int64_t heads) {
  const Precision& p = out.in.precision;
  const std::int64_t h = out.in.model.hidden;
  const std::int64_t latent = a.kv_lora_rank + a.qk_rope_dim;
  const std::int64_t q_width = heads * (a.qk_nope_dim + a.qk_rope_dim);
  const bool both_16 = p.attn_q == ops::Quant::bfloat16 && p.attn_kv == ops::Quant::bfloat16;
  const ops::Quant down = both_16                            ? ops::Quant::bfloat16
                          : p.attn_q == ops::Quant::bfloat16 ? p.attn_kv
                                                             : p.attn_q;
  if (a.q_lora_rank > 0) {
    out.add("downscale_gemm", ops::Gemm{down, a.q_lora_rank + latent, h});
    out.add("q_b_proj_gemm", ops::Gemm{p.attn_q, q_width, a.q_lora_rank});
  } else {
    out.add("q_proj_gemm", ops::Gemm{p.attn_q, q_width, h});
    out.add("downscale_gemm", ops::Gemm{p.attn_kv, latent, h});
  }
}

void piece_by_piece(Emitter& out, const Attention& a) {
  const Precision& p = out.in.precision;
  const std::int64_t heads = a.heads / out.in.shard.tp;
  const ops::Quant bmm = absorbed_format(p.attn_kv);
  const Emitter::Options decode{.drive = Drive::decodes, .phase = Phase::decode};
  query(out, a, heads);
  out.add("kv_b_proj_gemm",
          ops::Gemm{p.attn_kv, heads * (a.qk_nope_dim + a.v_head_dim), a.kv_lora_rank},
          {.drive = Drive::tokens, .phase = Phase::prefill});
  out.add("attention", ops::ContextMla{heads, p.kv, p.fmha},
          {.drive = Drive::prompts, .phase = Phase::prefill});
  out.add("bmm_pre", ops::MlaBmm{heads, true, bmm}, decode);
  out.add("attention", ops::GenerationMla{heads, p.kv}, decode);
  out.add("bmm_post", ops::MlaBmm{heads, false, bmm}, decode);
  out.add("proj_gemm", ops::Gemm{p.attn_o, out.in.model.hidden, heads * a.v_head_dim});
}

}  // namespace

void mla(Emitter& out, const LayerGroup& layer) {
  const Precision& p = out.in.precision;
  out.add("add_norm_1", norm(out.in.model.hidden));
  gather_kv(out, static_cast<double>(layer.attention.kv_lora_rank + layer.attention.qk_rope_dim));
  const bool one_format = p.attn_q == p.attn_kv && p.attn_kv == p.attn_o;
  if (one_format && out.in.framework.mla_module_tables) {
    one_piece(out, layer.attention);
  } else {
    piece_by_piece(out, layer.attention);
  }
}

}  // namespace setpoint::model::blocks
