// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/step_time.h"

#include <algorithm>

#include "cluster/sim/layer_time.h"

namespace setpoint::cluster {
namespace {

// One micro-batch through one stage, both passes.
struct StageTime {
  StepTerms terms;
  Ms last_backward;  // what the gradients' reduction can hide behind
};

Ms recomputed(const Layout& at, const LayerTime& time, bool dense) {
  if (at.recompute == Recompute::full) {
    return at.recompute_share *
           (time.gemm + time.experts + time.attention + time.passes + (time.tp + time.ep) / 2);
  }
  Ms again{};
  if (at.recomputes("core_attn")) again += time.attention;
  if (at.recomputes("moe")) again += time.experts + time.passes / 2 + time.ep / 2;
  if (at.recomputes("mlp") && dense) again += time.gemm * 0.6 + time.passes / 3;
  if (at.recomputes("moe_act") || at.recomputes("layernorm")) again += time.passes / 6;
  if (at.recomputes("mla_up_proj")) again += time.gemm * 0.2;
  return again;
}

// `time` `count` times into the terms of a stage.
void add(const TrainModel& model, const Layout& at, const Machine& on, const LayerTime& time,
         bool dense, StepTerms& to) {
  const Constants& k = on.constants;
  const Ms compute = 3 * (time.gemm + time.experts) + (1 + k.attention_backward) * time.attention;
  const Ms passes = (1 + k.backward_passes) * time.passes;
  const Ms again = recomputed(at, time, dense);
  const Ms uneven =
      model.experts > 0 && !at.balanced ? (k.imbalance - 1) * (3 * time.experts + time.ep) : Ms{};
  const Ms gpu = compute + passes + again + uneven + time.tp + time.cp + time.ep;
  to.compute += compute;
  to.memory_passes += passes;
  to.recompute += again;
  to.imbalance += uneven;
  to.tp += time.tp;
  to.cp += time.cp;
  to.ep += time.ep;
  to.host += time.host_exposed + std::max(Ms{}, time.host - gpu);
}

StepTerms stage_micro_batch(const TrainModel& model, const Layout& at, const Machine& on,
                            const Stage& stage) {
  StepTerms terms;
  for (const Layer& layer : stage.layers) {
    add(model, at, on, layer_time(model, at, on, layer), layer.dense, terms);
  }
  for (int i = 0; i < stage.mtp && !model.layers.empty(); ++i) {
    add(model, at, on, layer_time(model, at, on, model.layers.back()), false, terms);
    add(model, at, on, head_time(model, at, on), false, terms);
  }
  if (stage.head) add(model, at, on, head_time(model, at, on), false, terms);
  return terms;
}

void scale(StepTerms& terms, double by) {
  for (Ms StepTerms::*term :
       {&StepTerms::compute, &StepTerms::recompute, &StepTerms::memory_passes, &StepTerms::tp,
        &StepTerms::cp, &StepTerms::ep, &StepTerms::imbalance, &StepTerms::host}) {
    terms.*term = terms.*term * by;
  }
}

Ms pipeline_transfers(const TrainModel& model, const Layout& at, const Machine& on) {
  if (at.pp == 1) return {};
  const double bytes = micro_tokens(at) * model.hidden * 2 / static_cast<double>(at.tp);
  // Neighbouring stages are gpus/pp ranks apart.
  const Ms one = time_of(bytes, group_bw(on, std::min(at.gpus, 2 * at.gpus / at.pp))) +
                 on.system.node.p2p_latency;
  return 2 * static_cast<double>(at.vpp * at.micro_batches) * one *
         (at.p2p_overlap ? 1 - on.constants.p2p_overlap : 1.0);
}

// Reducing gradients and gathering weights once a step; with FSDP for every micro-batch, twice the
// gathers.
Ms data_parallel(const Layout& at, const Machine& on, const StageWeights& weights, Ms micro) {
  const double gradient = at.grads_fp32 ? 4 : 2;
  const double weight = at.fp8_params ? 1 : 2;
  const auto copies = static_cast<double>(at.dp * at.cp);
  const auto expert_copies = static_cast<double>(at.edp);
  const double moved =
      weights.dense * (copies - 1) / copies + weights.expert * (expert_copies - 1) / expert_copies;
  const BytesPerS bw = group_bw(on, at.gpus / at.pp);
  const Ms hidden_by = on.constants.dp_overlap * micro;
  if (at.fsdp) {
    const Ms each = time_of(moved * (2 * weight + gradient), bw);
    const Ms contended = on.constants.fsdp_contention * micro;
    return (contended + std::max(Ms{}, each - hidden_by)) * static_cast<double>(at.micro_batches);
  }
  const Ms once = time_of(moved * (gradient + (at.sharded_optimizer ? weight : gradient)), bw);
  return at.grad_overlap ? std::max(Ms{}, once - hidden_by) : once;
}

void optimizer_time(const Layout& at, const Machine& on, const StageWeights& weights,
                    StepTerms& to) {
  const Constants& k = on.constants;
  const double shards = at.sharded_optimizer ? static_cast<double>(at.dp * at.cp) : 1;
  const double expert_shards = at.sharded_optimizer ? static_cast<double>(at.edp) : 1;
  const double local = weights.dense / shards + weights.expert / expert_shards;
  to.optimizer = time_of(local * (1 - at.host_optimizer) * k.adam_bytes, on.system.gpu.memory_bw) /
                 on.system.gpu.memory_efficiency;
  if (at.host_optimizer <= 0) return;
  // Systems whose NVLink joins racks are Grace boards: the host's memory hangs on NVLink-C2C.
  const bool c2c = on.system.node.gpus_per_rack > 0;
  const double on_host = local * at.host_optimizer;
  const Ms copies = time_of(on_host * 8, BytesPerS(c2c ? k.host_link_bw_c2c : k.host_link_bw));
  const Ms update = time_of(on_host * k.adam_bytes, BytesPerS(c2c ? k.host_bw_c2c : k.host_bw));
  to.offload = at.host_copies_overlap ? std::max(copies, update) : copies + update;
}

}  // namespace

Ms StepTerms::total() const {
  return compute + recompute + memory_passes + tp + cp + ep + pp + dp + bubble + imbalance + host +
         optimizer + offload + gaps;
}

StageWeights stage_weights(const TrainModel& model, const Layout& at, const Stage& stage) {
  StageWeights weights;
  const auto tp = static_cast<double>(at.tp);
  const auto shards = static_cast<double>(at.ep * at.etp);
  const auto layer = [&](const Layer& of) {
    const double experts = of.moe ? model.experts * model.expert_weights() : 0;
    weights.expert += experts / shards;
    weights.dense += (model.layer_weights(of) - experts) / tp;
  };
  for (const Layer& of : stage.layers) layer(of);
  for (int i = 0; i < stage.mtp && !model.layers.empty(); ++i) layer(model.layers.back());
  const bool both = stage.embedding && stage.head && !model.tied;
  if (stage.embedding || stage.head || stage.mtp > 0) {
    weights.dense += model.vocabulary_weights() * (both ? 2 : 1) / tp;
  }
  return weights;
}

StepTerms step_time(const TrainModel& model, const Layout& at, const Machine& on) {
  StepTerms slowest;
  StageWeights heaviest;
  for (const Stage& stage : at.stages) {
    const StepTerms terms = stage_micro_batch(model, at, on, stage);
    if (terms.total() > slowest.total()) slowest = terms;
    const StageWeights weights = stage_weights(model, at, stage);
    if (weights.dense + weights.expert > heaviest.dense + heaviest.expert) heaviest = weights;
  }
  const Ms micro = slowest.total();
  StepTerms step = slowest;
  scale(step, static_cast<double>(at.micro_batches));
  step.bubble = micro * (static_cast<double>(at.pp - 1) / static_cast<double>(at.vpp));
  step.pp = pipeline_transfers(model, at, on);
  step.dp = data_parallel(at, on, heaviest, micro);
  optimizer_time(at, on, heaviest, step);
  step.gaps = Ms(on.constants.step_gap_ms);
  return step;
}

double tokens_per_s_per_gpu(const Layout& at, Ms step) {
  return static_cast<double>(at.global_batch) * at.sequence /
         (step.value() / kMsPerS * static_cast<double>(at.gpus));
}

}  // namespace setpoint::cluster
