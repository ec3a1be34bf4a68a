// SPDX-License-Identifier: Apache-2.0
// The step lines of a Megatron log, read in the plainest way.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace setpoint::cluster {

struct LogStep {
  double ms = 0, loss = 0, grad_norm = 0;
};
inline std::vector<LogStep> log_steps(const std::string& log) {
  const auto after = [&](const std::string& mark, std::size_t from) {
    return std::strtod(log.c_str() + log.find(mark, from) + mark.size(), nullptr);
  };
  std::vector<LogStep> out;
  for (std::size_t at = 0; (at = log.find("] iteration ", at)) != std::string::npos; ++at) {
    out.push_back({after("elapsed time per iteration (ms): ", at), after("lm loss: ", at),
                   after("grad norm: ", at)});
  }
  return out;
}

}  // namespace setpoint::cluster
