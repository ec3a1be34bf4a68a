// SPDX-License-Identifier: Apache-2.0
// A simulated step as PyTorch's profiler would record it on the slowest stage: the terms of the
// step as kernels, copies and the gaps between them. Pipeline waiting lies inside send/receive
// kernels, waiting for the host in late launches, as in real traces.
#pragma once

#include <string>

#include "cluster/sim/step_time.h"

namespace setpoint::cluster {

std::string kineto_trace(const StepTerms& terms, std::int64_t step);

}  // namespace setpoint::cluster
