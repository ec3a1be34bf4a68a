// SPDX-License-Identifier: Apache-2.0
// Which cuts are impossible, and the sentence that says why.
#include <fmt/format.h>

#include <numeric>

#include "model/plan.h"

namespace setpoint::model {
namespace {

constexpr std::int64_t kFp8Block = 128;  // scale block of published block-fp8 checkpoints

std::string attention_reason(const Attention& a, const Shard& s) {
  if (a.heads % s.tp != 0) {
    return fmt::format("{} attention heads do not divide by tp {}", a.heads, s.tp);
  }
  if (a.kind == AttentionKind::gqa && a.kv_heads % s.tp != 0 && s.tp % a.kv_heads != 0) {
    return fmt::format("{} KV heads neither divide by tp {} nor repeat evenly", a.kv_heads, s.tp);
  }
  return "";
}

// `parts`: ways that a width is cut; a block format needs whole blocks on every GPU, unless the
// framework cuts the blocks too (`least`: to no less than this, 0 = it does not).
std::string width_reason(std::string_view what, std::int64_t width, int parts, ops::Quant quant,
                         std::int64_t block, std::int64_t least = 0) {
  if (width % parts != 0)
    return fmt::format("{} width {} does not divide by {}", what, width, parts);
  const std::int64_t side = block > 0 ? block : kFp8Block;
  const std::int64_t piece = std::gcd(width / parts, side);
  if (quant != ops::Quant::fp8_block || parts == 1 || piece == side) return "";
  if (least > 0 && piece >= least) return "";
  return fmt::format("{} width {} / {} = {} is not a multiple of the fp8 block {}", what, width,
                     parts, width / parts, side);
}

std::string ffn_reason(const Ffn& f, const PlanInput& in) {
  const Shard& s = in.shard;
  const std::int64_t block = in.model.quant.block;
  if (!f.moe) return width_reason("feed-forward", f.inter, s.tp, in.precision.dense_ffn, block);
  if (f.experts < s.moe_ep) return fmt::format("{} experts for moe_ep {}", f.experts, s.moe_ep);
  if (f.experts % s.moe_ep != 0) {
    return fmt::format("{} experts do not divide by moe_ep {}", f.experts, s.moe_ep);
  }
  if (auto why = width_reason("expert", f.inter, s.moe_tp, in.precision.moe, block,
                              in.framework.expert_block_least);
      !why.empty()) {
    return why + "; spread by moe_ep, experts stay whole";
  }
  if (f.shared_inter == 0) return "";
  return width_reason("shared expert", f.shared_inter, s.tp, in.precision.shared, block);
}

std::string expert_group_reason(const PlanInput& in) {
  const Shard& s = in.shard;
  if (!in.model.is_moe()) {
    if (s.moe_tp * s.moe_ep > 1) return "the model has no experts: moe_tp and moe_ep must be 1";
    if (s.dp > 1) return "attention data parallelism is for models with experts: run replicas";
    return "";
  }
  if (s.moe_tp * s.moe_ep == s.tp * s.dp * s.cp) return "";
  return fmt::format("moe_tp {} x moe_ep {} must equal tp {} x dp {} x cp {}", s.moe_tp, s.moe_ep,
                     s.tp, s.dp, s.cp);
}

}  // namespace

std::string framework_reason(const PlanInput& in) {
  const Shard& s = in.shard;
  const framework::Facts& facts = in.framework;
  if (s.cp > 1 && !facts.context_parallel) {
    return fmt::format("{} has no context parallelism", facts.name);
  }
  if (!in.model.is_moe()) return "";
  if (s.moe_tp > 1 && s.moe_ep > 1 && !facts.moe_tp_and_ep) {
    return fmt::format("{} cannot be told moe_tp and moe_ep above 1 together", facts.name);
  }
  if (s.dp > 1 && !facts.attention_dp) {
    return fmt::format("{} has no attention data parallelism", facts.name);
  }
  if (s.dp > 1 && s.tp > 1 && !facts.attention_tp_and_dp) {
    return fmt::format("{} cannot be told attention tp {} with dp {} inside a worker", facts.name,
                       s.tp, s.dp);
  }
  return "";
}

Result<Shard> complete_shard(Shard shard, std::optional<int> moe_tp, std::optional<int> moe_ep) {
  const int group = shard.tp * shard.dp * shard.cp;
  const auto rest = [&](int given, std::string_view name) -> Result<int> {
    if (given >= 1 && group % given == 0) return group / given;
    return Error::bad_input(fmt::format("{} {} does not divide tp {} x dp {} x cp {} = {}", name,
                                        given, shard.tp, shard.dp, shard.cp, group));
  };
  if (moe_tp && moe_ep) {
    shard.moe_tp = *moe_tp;
    shard.moe_ep = *moe_ep;
  } else if (moe_tp) {
    shard.moe_tp = *moe_tp;
    SP_TRY(shard.moe_ep, rest(*moe_tp, "moe_tp"));
  } else if (moe_ep) {
    shard.moe_ep = *moe_ep;
    SP_TRY(shard.moe_tp, rest(*moe_ep, "moe_ep"));
  } else {
    shard.moe_ep = shard.dp > 1 ? group : 1;
    shard.moe_tp = shard.dp > 1 ? 1 : group;
  }
  return shard;
}

std::string infeasible_reason(const PlanInput& in) {
  const Shard& s = in.shard;
  for (const int way : {s.tp, s.pp, s.dp, s.cp, s.moe_tp, s.moe_ep}) {
    if (way < 1) return "every degree of parallelism is at least 1";
  }
  if (s.pp > in.model.layer_count()) {
    return fmt::format("pp {} for {} layers", s.pp, in.model.layer_count());
  }
  if (auto why = framework_reason(in); !why.empty()) return why;
  if (s.cp > 1 && s.tp * s.dp > 1) return "context parallelism goes with tp 1 and dp 1 only";
  if (auto why = expert_group_reason(in); !why.empty()) return why;
  for (const LayerGroup& group : in.model.layers) {
    if (auto why = attention_reason(group.attention, s); !why.empty()) return why;
    if (auto why = ffn_reason(group.ffn, in); !why.empty()) return why;
  }
  return "";
}

}  // namespace setpoint::model
