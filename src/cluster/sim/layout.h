// SPDX-License-Identifier: Apache-2.0
// How a run spreads over its GPUs and how it computes there, as far as speed and memory depend on
// it. What a framework refuses at its start is an error here, worded as its assertion would be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/sim/params.h"
#include "cluster/sim/train_model.h"

namespace setpoint::cluster {

enum class Precision { bf16, fp8, mxfp8, nvfp4 };  // of the matrix products of the layers
enum class Graphs { none, layers, step };          // CUDA graphs: none, per layer part, whole step
enum class Dispatch { alltoall, flex };            // NCCL all-to-all; DeepEP or HybridEP kernels
enum class Recompute { none, selective, full };

// One pipeline stage: what its chunks hold together.
struct Stage {
  std::vector<Layer> layers;
  bool embedding = false, head = false;
  int mtp = 0;
};

struct Layout {
  std::int64_t gpus = 1, tp = 1, pp = 1, vpp = 1, cp = 1, ep = 1, etp = 1, dp = 1, edp = 1;
  std::int64_t global_batch = 1, micro_batch = 1, micro_batches = 1;  // the last: of one pipeline
  double sequence = 0;
  std::vector<Stage> stages;

  Precision precision = Precision::bf16;
  bool fp8_attention = false, fp8_params = false;
  Graphs graphs = Graphs::none;
  bool attention_graphed = false;
  Dispatch dispatch = Dispatch::alltoall;
  bool grouped = true, permute_fused = false, experts_fused = false, capacity = false;
  bool balanced = false;  // the router is forced to spread tokens evenly
  Recompute recompute = Recompute::none;
  double recompute_share = 1;  // of a stage's layers, with full recompute
  std::vector<std::string> recompute_modules;
  double offloaded_activations = 0;  // share of the layers whose activations wait in host memory

  bool sequence_parallel = false, tp_overlap = false, ep_overlap = false, p2p_overlap = true;
  bool fsdp = false, sharded_optimizer = true, grad_overlap = false, grads_fp32 = true;
  double host_optimizer = 0;  // share of the optimizer state that lives in host memory
  bool host_copies_overlap = false, precision_aware = false, flash_attention = true;

  bool recomputes(const std::string& module) const;
};

Result<Layout> read_layout(const recipe::FinalValues& values, const TrainModel& model,
                           std::int64_t gpus);

}  // namespace setpoint::cluster
