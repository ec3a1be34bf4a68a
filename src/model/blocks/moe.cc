// SPDX-License-Identifier: Apache-2.0
// The expert feed-forward block: router, the collectives that bring tokens to experts and back,
// expert products, and the shared experts that run beside them.
//
// The collectives follow what each framework runs (framework::Dispatch). With tensor-parallel
// attention the one before the experts is the all-reduce that attention needs anyway, so it is not
// counted a second time; without an all-to-all kernel expert parallelism sends the same messages as
// tensor parallelism.
#include "model/blocks/emit.h"

namespace setpoint::model::blocks {
namespace {

using framework::Dispatch;
using ops::Collective;
using ops::CollectiveKind;

struct Group {
  std::int64_t ranks, attention, dp, cp;  // all ranks; those that share attention; dp; cp
};

// Share of a 16-bit message that is sent when tokens travel in the experts' format: nvfp4 with its
// scales, fp8; else 16 bits.
double compressed_share(ops::Quant moe) {
  switch (moe) {
    case ops::Quant::nvfp4:
      return ops::bytes(moe) / ops::bytes(ops::Quant::half);
    case ops::Quant::fp8:
    case ops::Quant::fp8_block:
      return 0.5;
    default:
      return 1;
  }
}

struct Sides {
  bool all_reduce = false;     // after attention and after the experts
  double gather_share = 0;     // all-gather before, reduce-scatter after, over all ranks; 0 = none
  bool inner_split = false;    // reduce-scatter over the attention ranks before, all-gather after
  bool context_parts = false;  // prompts are cut: gather and scatter them, all-reduce decodes
};

Sides sides(Dispatch rule, const Group& g, ops::Quant moe) {
  if (g.cp > 1) return {.context_parts = true};
  const bool reduces = g.attention > 1, gathers = g.dp > 1;
  const double whole = gathers ? 1 : 0;
  switch (rule) {
    case Dispatch::vllm:
      return {.all_reduce = reduces, .gather_share = whole};
    case Dispatch::sglang:
      return {reduces && !gathers, whole, reduces && gathers};
    case Dispatch::trtllm:
      return {.all_reduce = reduces, .gather_share = reduces ? 0 : whole};
    case Dispatch::trtllm_sm100:
      return {reduces && !gathers, whole * compressed_share(moe)};
  }
  return {};
}

void before(Emitter& out, const Group& g, const Sides& s) {
  const auto h = static_cast<double>(out.in.model.hidden);
  const auto dp = static_cast<double>(g.dp);
  const Emitter::Options routed{.overlap = Lane::routed};
  if (s.context_parts) {
    out.add("moe_gather", Collective{CollectiveKind::all_gather, h, g.ranks},
            {.phase = Phase::prefill, .whole = true});
  }
  if (s.inner_split) {
    out.add("moe_scatter_attention", Collective{CollectiveKind::reduce_scatter, h, g.attention},
            routed);
  }
  if (s.gather_share > 0) {
    out.add("moe_gather", Collective{CollectiveKind::all_gather, h * dp * s.gather_share, g.ranks},
            routed);
  }
}

void after(Emitter& out, const Group& g, const Sides& s) {
  const auto h = static_cast<double>(out.in.model.hidden);
  const auto dp = static_cast<double>(g.dp);
  const Emitter::Options routed{.overlap = Lane::routed};
  if (s.context_parts) {
    out.add("moe_scatter", Collective{CollectiveKind::reduce_scatter, h, g.ranks},
            {.phase = Phase::prefill, .whole = true});
    out.add("ar_ffn", ops::CustomAllReduce{out.in.model.hidden, g.ranks}, {.phase = Phase::decode});
  }
  if (s.all_reduce) {
    // sums the shared experts' part too, so it is not beside them
    all_reduce(out, "ar_ffn", g.ranks);
  }
  if (s.gather_share > 0) {
    out.add("moe_scatter", Collective{CollectiveKind::reduce_scatter, h * dp, g.ranks}, routed);
  }
  if (s.inner_split) {
    out.add("moe_gather_attention", Collective{CollectiveKind::all_gather, h, g.attention}, routed);
  }
}

void shared_experts(Emitter& out, const Ffn& f) {
  if (f.shared_inter == 0) return;
  const std::int64_t h = out.in.model.hidden;
  const std::int64_t inter = f.shared_inter / out.in.shard.tp;
  const ops::Quant format = out.in.precision.shared;
  const Emitter::Options shared{.overlap = Lane::shared};
  out.add("shared_gate_up_gemm", ops::Gemm{format, (f.gated ? 2 : 1) * inter, h}, shared);
  out.add("shared_act_gate", activation(inter, f.gated), shared);
  out.add("shared_ffn2_gemm", ops::Gemm{format, h, inter}, shared);
}

}  // namespace

void moe_ffn(Emitter& out, const LayerGroup& layer) {
  const Ffn& f = layer.ffn;
  const Shard& s = out.in.shard;
  const std::int64_t h = out.in.model.hidden;
  const ops::Quant format = out.in.precision.moe;
  const Group group{std::int64_t{s.moe_tp} * s.moe_ep, s.tp, s.dp, s.cp};
  const Sides collectives = sides(out.in.framework.dispatch_for(out.in.system), group, format);
  // only the ranks that share attention hold parts of the same tokens' sums
  if (collectives.all_reduce) all_reduce(out, "ar_attention", group.attention);
  out.add("add_norm_2", norm(h));
  out.add("router_gemm", ops::Gemm{ops::Quant::bfloat16, f.experts, h}, {.overlap = Lane::routed});
  before(out, group, collectives);
  out.add("moe",
          ops::Moe{h, f.inter, f.topk, f.experts, s.moe_tp, s.moe_ep, format, f.gated,
                   out.in.model.alpha},
          {.overlap = Lane::routed, .tokens_times = s.dp, .whole = true});
  after(out, group, collectives);
  shared_experts(out, f);
}

}  // namespace setpoint::model::blocks
