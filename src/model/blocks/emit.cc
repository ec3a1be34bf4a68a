// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/emit.h"

#include <algorithm>

namespace setpoint::model::blocks {
namespace {

constexpr double kBytes16 = 2;

double d(std::int64_t v) { return static_cast<double>(v); }

}  // namespace

void Emitter::add(std::string_view name, ops::Op op, Options options) {
  PlanOp entry;
  entry.name = draft ? "draft_" + std::string(name) : std::string(name);
  entry.op = op;
  entry.count = count;
  entry.drive = options.drive;
  entry.phase = options.phase;
  entry.overlap = options.overlap;
  entry.tokens_times = options.tokens_times;
  if (draft) {
    if (entry.phase == Phase::prefill) return;
    entry.phase = Phase::decode;
  }
  const bool cut = in.shard.cp > 1 && !options.whole && entry.phase != Phase::decode &&
                   (entry.drive == Drive::tokens || entry.drive == Drive::prompts);
  if (!cut) {
    put(std::move(entry));
    return;
  }
  if (entry.phase == Phase::both) {
    PlanOp decode = entry;
    decode.phase = Phase::decode;
    put(std::move(decode));
  }
  entry.phase = Phase::prefill;
  entry.tokens_over = in.shard.cp;
  put(std::move(entry));
}

void Emitter::put(PlanOp entry) {
  const auto same = std::find_if(ops_.begin(), ops_.end(), [&](const PlanOp& p) {
    return p.name == entry.name && p.op == entry.op && p.drive == entry.drive &&
           p.phase == entry.phase && p.overlap == entry.overlap &&
           p.tokens_times == entry.tokens_times && p.tokens_over == entry.tokens_over;
  });
  if (same != ops_.end()) {
    same->count += entry.count;
  } else {
    ops_.push_back(std::move(entry));
  }
}

ops::Op norm(std::int64_t width) {
  // value and residual in, value and residual out
  return ops::Elementwise{kBytes16 * 4 * d(width)};
}

ops::Op activation(std::int64_t inter, bool gated) {
  return ops::Elementwise{kBytes16 * d(inter) * (gated ? 3 : 2)};
}

void all_reduce(Emitter& out, std::string_view name, std::int64_t ranks) {
  if (ranks > 1) out.add(name, ops::CustomAllReduce{out.in.model.hidden, ranks});
}

// Before attention every GPU of a context-parallel group needs the others' keys and values.
void gather_kv(Emitter& out, double kv_elements) {
  const Shard& s = out.in.shard;
  if (s.cp == 1) return;
  const Precision& p = out.in.precision;
  const double elements = kv_elements * ops::bytes(p.kv) / ops::bytes(p.comm);
  out.add("cp_all_gather", ops::Collective{ops::CollectiveKind::all_gather, elements, s.cp, p.comm},
          {.phase = Phase::prefill, .whole = true});
}

void layer(Emitter& out, const LayerGroup& group) {
  if (group.attention.kind == AttentionKind::mla) {
    mla(out, group);
  } else {
    gqa(out, group);
  }
  if (group.ffn.moe) {
    moe_ffn(out, group);
  } else {
    dense_ffn(out, group);
  }
}

}  // namespace setpoint::model::blocks
