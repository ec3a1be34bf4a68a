// SPDX-License-Identifier: Apache-2.0
// What a simulated run trains, as evidence: losses and gradient norms of every step, and of the
// first steps what the start-up hook writes (judge::read_signals has the form). Sample, weights and
// gradients are functions of what the recipe trains; a run adds the small differences that kernels
// and summation orders make, and planted errors act on top.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/sim/spec.h"

namespace setpoint::cluster {

struct StepEvidence {
  double loss = 0, gradient_norm = 0, learning_rate = 0;
};

class Training {
 public:
  Training(const SimSpec& spec, const recipe::FinalValues& values, std::string lease);
  StepEvidence step(std::int64_t step) const;  // from 1
  // JSON lines of steps 1 to `last`.
  std::string signals(std::int64_t last) const;

 private:
  struct Tensor {
    std::vector<double> gradient, weight, m, v;
    double norm = 0;
  };
  std::vector<std::string> groups() const;
  // Gradient of a group's sampled elements; `noise`: what is added, relative to each element.
  std::vector<double> gradient(const std::string& group, std::int64_t step, double noise,
                               const std::string& rank) const;
  double base_norm(const std::string& group) const;
  base::Json tokens(std::int64_t step) const;
  base::Json tensor(const std::string& group, std::int64_t step, Tensor& state) const;
  double mean_shift(std::int64_t step) const;  // of the loss, by planted errors

  const SimSpec& spec_;
  recipe::FinalValues values_;
  std::string lease_, content_;  // content_: what is trained, apart from how
  std::vector<const Effect*> effects_;
  bool trained_ = false, moe_ = false;
  double vocab_ = 0, experts_ = 0;
};

}  // namespace setpoint::cluster
