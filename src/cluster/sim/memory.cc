// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cluster/sim/step_time.h"

namespace setpoint::cluster {
namespace {

// What one layer keeps of one micro-batch for its backward pass, by tensor (the account of
// Korthikanti et al. 2022, section 4.1, for today's layers: no dropout masks, flash attention,
// gated activation). Inputs of matrix products are kept in the product's own precision.
double kept_by_layer(const TrainModel& m, const Layout& at, const Layer& layer, double tokens) {
  const double in = at.precision == Precision::bf16 ? 2 : 1;  // bytes of a product's input
  // Without sequence parallelism the norms' inputs are whole on every rank of the tensor group.
  const auto tp = static_cast<double>(at.tp);
  const double norms = at.sequence_parallel ? tp : 1;
  const double norm = at.recomputes("layernorm") ? 2 * m.hidden : (2 + in) * m.hidden;
  const auto ffn = [&](double width, bool only_input) {
    return (only_input ? 0 : (m.gated ? 4 : 2) * width) + in * width;
  };
  double bytes = 0;
  if (layer.attention) {
    const double qkv = 2 * m.heads * m.qk_dim() + 4 * m.kv_heads * m.head_dim;
    // The core's output is the projection's input, kept once more where that is cast.
    const double out = in < 2 ? 2 + in : 2;
    bytes += norm / norms + (qkv + out * m.heads * m.v_dim()) / tp;
    if (!at.flash_attention && !at.recomputes("core_attn")) {
      bytes += 5 * m.heads * at.sequence / static_cast<double>(at.tp * at.cp);
    }
  }
  if (layer.dense) bytes += norm / norms + (at.recomputes("mlp") ? 0 : ffn(m.ffn, false) / tp);
  if (layer.mamba) bytes += norm / norms + 12 * m.mamba.inner() / tp;
  if (layer.moe) bytes += norm / tp;
  if (layer.moe && !at.recomputes("moe")) {
    const double copy = in * m.hidden + ffn(m.moe_ffn, at.recomputes("moe_act"));
    bytes += (m.topk * copy * (at.balanced ? 1.0 : 1.15) + ffn(m.shared_ffn, false)) / tp;
  }
  return tokens * bytes;
}

double activations(const TrainModel& m, const Layout& at, std::size_t stage) {
  const double tokens =
      at.sequence * static_cast<double>(at.micro_batch) / static_cast<double>(at.cp);
  double bytes = 0;
  for (const Layer& layer : at.stages[stage].layers) {
    const double all = kept_by_layer(m, at, layer, tokens);
    const double input =
        tokens * 2 * m.hidden / static_cast<double>(at.sequence_parallel ? at.tp : 1);
    const double again = at.recompute == Recompute::full ? at.recompute_share : 0;
    bytes += (all * (1 - again) + input * again) * (1 - at.offloaded_activations);
  }
  const auto pp = static_cast<double>(at.pp);
  const auto vpp = static_cast<double>(at.vpp);
  double in_flight =
      std::min(pp - static_cast<double>(stage), static_cast<double>(at.micro_batches));
  if (at.vpp > 1) in_flight *= 1 + (pp - 1) / (pp * vpp);
  return bytes * std::max(1.0, in_flight);
}

struct BytesPerWeight {
  double weight, gradient, optimizer;
};

BytesPerWeight per_weight(const Layout& at, double copies) {
  const double gradient = at.grads_fp32 ? 4 : 2;
  const double weight = 2;  // BF16, or FP8 with its transpose
  const double state = (at.precision_aware ? 8.0 : 12.0) * (1 - at.host_optimizer);
  if (at.fsdp) return {weight / copies, gradient / copies, state / copies};
  return {weight, gradient, at.sharded_optimizer ? state / copies : state};
}

}  // namespace

double MemoryTerms::total() const {
  return weights + gradients + optimizer + activations + logits + buffers + reserve;
}

MemoryTerms memory(const TrainModel& model, const Layout& at, const Machine& machine) {
  MemoryTerms worst;
  const double tokens =
      at.sequence * static_cast<double>(at.micro_batch) / static_cast<double>(at.cp);
  for (std::size_t p = 0; p < at.stages.size(); ++p) {
    const Stage& stage = at.stages[p];
    const StageWeights weights = stage_weights(model, at, stage);
    const BytesPerWeight dense = per_weight(at, static_cast<double>(at.dp * at.cp));
    const BytesPerWeight expert = per_weight(at, static_cast<double>(at.edp));
    MemoryTerms here;
    here.weights = weights.dense * dense.weight + weights.expert * expert.weight;
    here.gradients = weights.dense * dense.gradient + weights.expert * expert.gradient;
    here.optimizer = weights.dense * dense.optimizer + weights.expert * expert.optimizer;
    here.activations = activations(model, at, p);
    if (stage.head) here.logits = tokens * model.vocab / static_cast<double>(at.tp) * 6;
    if (model.experts > 0) {
      here.buffers = 4 * tokens * model.topk * model.hidden / static_cast<double>(at.tp);
    }
    if (at.fsdp && !stage.layers.empty()) {  // two gathered layers
      here.buffers +=
          2 * 2 * (weights.dense + weights.expert) / static_cast<double>(stage.layers.size());
    }
    here.reserve = machine.constants.reserve_bytes;
    if (here.total() > worst.total()) worst = here;
  }
  return worst;
}

}  // namespace setpoint::cluster
