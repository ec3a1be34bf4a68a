// SPDX-License-Identifier: Apache-2.0
#include "model/plan.h"

#include "model/blocks/emit.h"
#include "model/weights.h"

namespace setpoint::model {
namespace {

// Drafts by the checkpoint's own prediction layers: each of the `nextn` drafts runs one such layer,
// the embedding and the head over the step's tokens.
void own_draft(blocks::Emitter& out) {
  out.draft = true;
  out.count = out.in.nextn;
  blocks::embedding(out);
  blocks::draft_input(out);
  blocks::layer(out, out.in.model.layers[out.in.model.order.back()]);
  blocks::head(out);
  out.draft = false;
}

// Without prediction layers a draft is assumed to cost one layer's share of the whole pass
// (AIConfigurator 0.12.0: every decode operator x (layers + nextn) / layers).
void add_draft_share(std::vector<PlanOp>& ops, double share) {
  std::vector<PlanOp> extra;
  for (const PlanOp& op : ops) {
    if (op.phase == Phase::prefill || op.name == "p2p") continue;
    PlanOp draft = op;
    draft.name = "draft_" + op.name;
    draft.phase = Phase::decode;
    draft.count *= share;
    extra.push_back(std::move(draft));
  }
  ops.insert(ops.end(), extra.begin(), extra.end());
}

double activation_width(const ModelSpec& model) {
  const Attention& a = model.layers.front().attention;
  return static_cast<double>(a.kind == AttentionKind::mla ? model.hidden : a.heads * a.head_dim);
}

}  // namespace

Plan plan(const PlanInput& in) {
  const ModelSpec& model = in.model;
  const bool has_draft = in.nextn > 0 && model.mtp_layers > 0;
  blocks::Emitter out(in);
  blocks::embedding(out);
  for (const LayerGroup& group : model.layers) {
    out.count = static_cast<double>(group.count);
    blocks::layer(out, group);
  }
  out.count = 1;
  blocks::head(out);
  blocks::hand_over(out);
  if (has_draft) own_draft(out);

  Plan plan;
  plan.ops = out.take();
  plan.layers = model.layer_count();
  if (in.nextn > 0 && !has_draft) {
    add_draft_share(plan.ops, static_cast<double>(in.nextn) / static_cast<double>(plan.layers));
  }
  plan.weights =
      Bytes(static_cast<std::int64_t>(weight_bytes(model, in.shard, in.precision, has_draft)));
  plan.kv = kv_footprint(model, in.shard, in.precision.kv, has_draft);
  plan.activation_width = activation_width(model);
  return plan;
}

}  // namespace setpoint::model
