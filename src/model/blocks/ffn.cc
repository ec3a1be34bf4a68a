// SPDX-License-Identifier: Apache-2.0
// The dense feed-forward block, with the two all-reduces of a tensor-parallel layer: one after
// attention, one after the block; a parallel layer needs a single one.
#include "model/blocks/emit.h"

namespace setpoint::model::blocks {

void dense_ffn(Emitter& out, const LayerGroup& layer) {
  const Ffn& f = layer.ffn;
  const std::int64_t h = out.in.model.hidden;
  const std::int64_t inter = f.inter / out.in.shard.tp;
  const ops::Quant format = out.in.precision.dense_ffn;
  if (!layer.parallel) {
    all_reduce(out, "ar_attention", out.in.shard.tp);
    out.add("add_norm_2", norm(h));
  }
  out.add("gate_ffn1_gemm", ops::Gemm{format, (f.gated ? 2 : 1) * inter, h});
  out.add("act_gate", activation(inter, f.gated));
  out.add("ffn2_gemm", ops::Gemm{format, h, inter});
  all_reduce(out, "ar_ffn", out.in.shard.tp);
}

}  // namespace setpoint::model::blocks
