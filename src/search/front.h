// SPDX-License-Identifier: Apache-2.0
// The exact Pareto front of speed for one user against throughput of the hardware.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace setpoint::search {

struct FrontPoint {
  double user_speed = 0;  // tokens/s/user, up is better
  double throughput = 0;  // tokens/s/GPU over all GPUs asked for, up is better
  std::int64_t gpus = 0;  // in use; of equals the fewer stay
};

// Indices of the points that no other beats in both, slowest user first. Of equal points the one
// with fewer GPUs stays, then the earlier one. Points that are not finite never enter.
std::vector<std::size_t> pareto_front(std::span<const FrontPoint> points);

}  // namespace setpoint::search
