// SPDX-License-Identifier: Apache-2.0
// Faults of AIConfigurator 0.12.0 that its recorded estimates contain and our model does not. The
// golden tests add them back, each named, to compare what is left. docs/accuracy.md explains them.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "model/plan.h"

namespace setpoint::serve::golden {

struct Subject {
  model::ModelSpec& model;
  const model::Shard& shard;
  const std::string& framework;
  framework::Facts& facts;
  hw::System& system;

  bool mla() const { return model.layers.front().attention.kind == model::AttentionKind::mla; }
};

inline void drop(std::vector<model::PlanOp>& ops,
                 const std::function<bool(const model::PlanOp&)>& which) {
  std::erase_if(ops, which);
}

// Before the plan is made.
inline void spoil_model(const Subject& s) {
  // Layouts count that the framework cannot be told; KV needs no whole blocks.
  s.facts.attention_tp_and_dp = true;
  s.facts.memory.kv_block_tokens = 1;
  // Dense first layers of latent-attention models are priced as layers with experts.
  if (s.mla()) {
    const auto experts =
        std::ranges::find_if(s.model.layers, [](const model::LayerGroup& g) { return g.ffn.moe; });
    for (model::LayerGroup& g : s.model.layers) g.ffn = experts->ffn;
  }
  // Collective buffers only for groups that share attention.
  const auto buffers = s.system.collective_memory.find(s.shard.tp);
  s.system.collective_memory = {{s.shard.tp, s.shard.tp > 1 ? buffers->second : Bytes{}}};
  // Drafts cost (layers + nextn) / layers of a decode step and have no weights, whatever layers the
  // checkpoint has.
  s.model.mtp_layers = 0;
}

// Every prefill attention carries four element-wise operators, twelve with q/k norms, whose bytes
// do not grow with the tokens: launches alone, x 1.1. They stand for our q/k norm of every token;
// decode has no such norm.
inline model::PlanOp attention_extras(const Subject& s, double layers) {
  const model::Attention& a = s.model.layers.front().attention;
  model::PlanOp extras;
  extras.name = "attention_extras";
  extras.op = ops::Elementwise{0};
  extras.count = layers * 1.1 * (a.qk_norm ? 12 : 4);
  extras.phase = model::Phase::prefill;
  return extras;
}

// vLLM's latent attention with mixed formats is priced as plain attention on heads as wide as a
// value, absorbed products left out.
inline void attend_without_latent(const Subject& s, std::vector<model::PlanOp>& ops) {
  const model::Attention& a = s.model.layers.front().attention;
  const std::int64_t heads = a.heads / s.shard.tp;
  drop(ops, [](const model::PlanOp& op) { return op.name.starts_with("bmm_"); });
  for (model::PlanOp& op : ops) {
    if (const auto* prompt = std::get_if<ops::ContextMla>(&op.op)) {
      op.op = ops::ContextAttention{heads, heads, a.v_head_dim, 0, prompt->kv, prompt->fmha};
    } else if (const auto* decode = std::get_if<ops::GenerationMla>(&op.op)) {
      op.op = ops::GenerationAttention{heads, heads, a.v_head_dim, 0, decode->kv};
    }
  }
}

inline Bytes head_bytes(const model::PlanOp& op) {
  const auto& head = std::get<ops::Gemm>(op.op);
  return Bytes(
      static_cast<std::int64_t>(static_cast<double>(head.n * head.k) * ops::bytes(head.quant)));
}

// MXFP4 experts weigh half a byte an element, without the scale that 32 elements share.
inline Bytes mxfp4_scales(const Subject& s, const model::Plan& plan) {
  double elements = 0;
  for (const model::PlanOp& op : plan.ops) {
    const auto* moe = std::get_if<ops::Moe>(&op.op);
    if (moe == nullptr || moe->quant != ops::Quant::w4a16_mxfp4) continue;
    elements += op.count * 3 *
                static_cast<double>(moe->hidden * moe->inter * moe->experts / moe->tp / moe->ep);
  }
  return Bytes(static_cast<std::int64_t>(elements / 32 / s.shard.pp));
}

// TensorRT-LLM's build-time tokens count once for each draft token too.
inline double activation_fault(const std::string& framework, const std::string& mode, int nextn) {
  return framework == "trtllm" && mode == "agg" ? nextn + 1 : 1;
}

// After the plan is made.
inline void spoil_plan(const Subject& s, model::Plan& plan) {
  plan.weights -= mxfp4_scales(s, plan);
  const double layers = static_cast<double>(plan.layers);
  for (model::PlanOp& op : plan.ops) {
    // Mixture-of-experts models without latent attention have no LM head in prefill, nor its
    // weights.
    if (s.model.is_moe() && !s.mla() && op.drive == model::Drive::samples) {
      op.phase = model::Phase::decode;
      plan.weights -= head_bytes(op);
    }
    // The sum after attention spans every rank of the expert group.
    if (auto* sum = std::get_if<ops::CustomAllReduce>(&op.op)) {
      if (s.model.is_moe() && op.name == "ar_attention") sum->ranks = s.shard.tp * s.shard.dp;
    }
    // Hand-overs between stages always cross nodes.
    if (auto* p2p = std::get_if<ops::P2p>(&op.op)) p2p->span = s.system.node.gpus + 1;
  }
  drop(plan.ops, [](const model::PlanOp& op) { return op.name == "qk_norm"; });
  if (!s.mla() || s.framework == "vllm") plan.ops.push_back(attention_extras(s, layers));
  if (s.mla()) {
    drop(plan.ops, [](const model::PlanOp& op) { return op.name == "embedding_ar"; });
    if (s.framework == "vllm") attend_without_latent(s, plan.ops);
    // Four all-reduces a layer instead of two.
    if (s.framework == "vllm" && s.shard.tp > 1) {
      model::PlanOp twice;
      twice.name = "tp_allreduce";
      twice.op = ops::CustomAllReduce{s.model.hidden, s.shard.tp};
      twice.count = 2 * layers;
      plan.ops.push_back(twice);
    }
  }
}

}  // namespace setpoint::serve::golden
