// SPDX-License-Identifier: Apache-2.0
// The second halves of the targets that start plain processes: what runs is known, text is made.
#pragma once

#include "generate/targets/processes.h"

namespace setpoint::generate {

Files run_scripts(const Plan& plan, const Processes& all);
Files compose_document(const Plan& plan, const Processes& all);
Files slurm_job(const Plan& plan, const Processes& all);

}  // namespace setpoint::generate
