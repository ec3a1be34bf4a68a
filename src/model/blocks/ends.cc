// SPDX-License-Identifier: Apache-2.0
// What stands before, between and after the layers.
#include <algorithm>

#include "model/blocks/emit.h"

namespace setpoint::model::blocks {

void embedding(Emitter& out) {
  out.add("embedding", ops::Embedding{out.in.model.hidden});
  all_reduce(out, "embedding_ar", out.in.shard.tp);
}

// Only sequences that sample a token pass the head. Its columns are cut by tp; gathering the
// logits is part of sampling, which is not priced here.
void head(Emitter& out) {
  const ModelSpec& m = out.in.model;
  const std::int64_t columns = (m.vocab + out.in.shard.tp - 1) / out.in.shard.tp;
  out.add("logits_gemm", ops::Gemm{out.in.precision.lm_head, columns, m.hidden},
          {.drive = Drive::samples});
}

// Each hand-over crosses the link between the GPUs of the same rank in neighbouring stages: inside
// a node, between nodes of a rack, or between racks, by where the stages lie.
void hand_over(Emitter& out) {
  const Shard& s = out.in.shard;
  const hw::Node& node = out.in.system.node;
  const int width = s.tp * s.dp * s.cp;
  const auto span = [&](int from, int to) -> std::int64_t {
    if (from / node.gpus == to / node.gpus) return 2;
    const int rack = node.gpus_per_rack;
    if (rack == 0 || from / rack == to / rack) return node.gpus + 1;
    return rack + 1;
  };
  for (int stage = 0; stage + 1 < s.pp; ++stage) {
    std::int64_t widest = 0;
    for (int rank = 0; rank < width; ++rank) {
      const int from = stage * width + rank;
      widest = std::max(widest, span(from, from + width));
    }
    out.count = 1;
    out.add("p2p", ops::P2p{out.in.model.hidden, widest});
  }
}

void draft_input(Emitter& out) {
  const std::int64_t h = out.in.model.hidden;
  out.add("input_norm", norm(h));
  out.add("input_gemm", ops::Gemm{ops::Quant::bfloat16, h, 2 * h});
}

}  // namespace setpoint::model::blocks
