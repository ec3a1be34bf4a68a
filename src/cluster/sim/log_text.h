// SPDX-License-Identifier: Apache-2.0
// The files that a simulated run leaves, in the forms in which the real frameworks write them, as
// far as the run has come by a moment.
#pragma once

#include <map>
#include <string>

#include "cluster/sim/run.h"

namespace setpoint::cluster {

// File name -> content, `elapsed_s` after the start of the job: "train.log", "values/rank0.yaml" or
// "values/rank0.log" (by framework), "values/rank0-env.json", "signals.jsonl", "trace.json".
std::map<std::string, std::string> run_files(const SimSpec& spec, const RunInput& input,
                                             const RunPlan& plan, double start_s, double elapsed_s);

}  // namespace setpoint::cluster
