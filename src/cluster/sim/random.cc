// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/random.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace setpoint::cluster {

Random::Random(std::uint64_t seed, const std::string& about) {
  // std::seed_seq mixes; std::hash would differ between standard libraries.
  std::vector<std::uint32_t> words{static_cast<std::uint32_t>(seed),
                                   static_cast<std::uint32_t>(seed >> 32)};
  for (const char c : about) words.push_back(static_cast<unsigned char>(c));
  std::seed_seq sequence(words.begin(), words.end());
  engine_.seed(sequence);
}

double Random::uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

// Box and Muller: the standard's distribution is not the same everywhere.
double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Random::log_normal(double deviation) { return std::exp(deviation * normal()); }

}  // namespace setpoint::cluster
