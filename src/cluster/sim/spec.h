// SPDX-License-Identifier: Apache-2.0
// What a simulated cluster is made of: the `cluster` object of a campaign file of kind "sim".
#pragma once

#include <string>
#include <vector>

#include "cluster/sim/fault.h"
#include "cluster/sim/step_time.h"

namespace setpoint::cluster {

struct SimSpec {
  Machine machine;
  int nodes = 0;
  std::uint64_t seed = 0;
  // Log-normal deviations: of a run, of a step, and how much slower a node may be at most.
  double run_noise = 0.006, step_noise = 0.012, node_noise = 0.012;
  // Probability per run.
  double hang = 0, node_failure = 0, preemption = 0;
  double queue_s = 90;   // mean wait for free nodes, exponential
  double stagger_s = 0;  // the last node of an allocation comes up to this much later
  std::vector<Fault> faults;
};

// Members: kind, gpu (a system's name; usual: the recipe's), nodes (usual: five times what a run of
// `gpus` needs, so that baseline runs see different machines), seed, run_noise, step_noise,
// node_noise, hang, node_failure, preemption, queue_s, stagger_s, errors.
Result<SimSpec> read_sim_spec(const base::JsonView& cluster, const std::string& recipe_gpu,
                              std::int64_t gpus);

}  // namespace setpoint::cluster
