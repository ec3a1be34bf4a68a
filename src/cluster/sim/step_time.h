// SPDX-License-Identifier: Apache-2.0
// How long one optimizer step takes on a cluster, term by term, and what it needs of GPU memory:
// pure arithmetic over model, layout and system. docs/simulator.md states the terms and the error
// against each published row.
#pragma once

#include "cluster/sim/constants.h"
#include "cluster/sim/layout.h"
#include "hw/system.h"

namespace setpoint::cluster {

struct Machine {
  hw::System system;
  Constants constants;
};

// Milliseconds per step as the slowest stage sees them; they add up to total().
struct StepTerms {
  Ms compute, recompute, memory_passes;  // matrix products and attention; done again; copies, norms
  Ms tp, cp, ep, pp, dp;                 // exposed communication
  Ms bubble, imbalance, host, gaps;
  Ms optimizer, offload;  // on the GPU; on the host
  Ms total() const;
};

StepTerms step_time(const TrainModel& model, const Layout& layout, const Machine& machine);
double tokens_per_s_per_gpu(const Layout& layout, Ms step);

struct MemoryTerms {
  double weights = 0, gradients = 0, optimizer = 0, activations = 0, logits = 0, buffers = 0,
         reserve = 0;  // bytes of the fullest GPU
  double total() const;
};
MemoryTerms memory(const TrainModel& model, const Layout& layout, const Machine& machine);

// Weights of a stage on one of its GPUs.
struct StageWeights {
  double dense = 0, expert = 0;
};
StageWeights stage_weights(const TrainModel& model, const Layout& layout, const Stage& stage);

}  // namespace setpoint::cluster
