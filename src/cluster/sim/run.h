// SPDX-License-Identifier: Apache-2.0
// One simulated run from its allocation to its end, worked out in advance: how long it starts up,
// how long each step takes, and how it ends. A function of the cluster's seed, the lease, the final
// values and the nodes, so that a crash of the client changes nothing.
#pragma once

#include <optional>

#include "cluster/sim/spec.h"

namespace setpoint::cluster {

struct RunPlan {
  double startup_s = 0;        // until the first step begins; the log's head is there from then on
  std::vector<double> step_s;  // of the steps it completes
  double end_s = 0;            // from the start of the job
  std::string outcome;         // done, failed, out_of_memory, timeout, preempted, node_failure
  int exit_code = 0;
  std::string message;           // last words in the log
  std::string cause;             // the cluster's
  std::optional<Layout> layout;  // none: the framework refuses the layout
  StepTerms terms;               // of an undisturbed step
};

struct RunInput {
  const recipe::FinalValues& values;
  std::string snapshot, lease;
  std::vector<std::string> nodes;
  std::int64_t gpus = 0;
  double limit_s = 0;  // from the start of the job
};
RunPlan plan_run(const SimSpec& spec, const RunInput& input);

}  // namespace setpoint::cluster
