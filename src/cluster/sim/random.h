// SPDX-License-Identifier: Apache-2.0
// Chance that is a function of a seed and of what it is about ("node sim-3", "step times of lease
// t-7"), so that a simulated run is the same whenever and in whatever order it is asked for.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace setpoint::cluster {

class Random {
 public:
  Random(std::uint64_t seed, const std::string& about);
  double uniform();  // 0 to 1
  double normal();   // mean 0, deviation 1
  bool chance(double probability) { return uniform() < probability; }
  double log_normal(double deviation);  // median 1

 private:
  std::mt19937_64 engine_;  // its sequence is fixed by the standard
};

}  // namespace setpoint::cluster
