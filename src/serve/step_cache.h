// SPDX-License-Identifier: Apache-2.0
// The parts of step times remembered by what they depend on: token-driven operators by knot,
// attention by its shape. Makes a further (batch, budget) of one layout cost a few look-ups in flat
// arrays. Gives exactly the plan's answers. Not thread-safe.
#pragma once

#include <array>
#include <vector>

#include "step/compose.h"
#include "step/step.h"

namespace setpoint::serve {

class StepCache {
 public:
  explicit StepCache(step::BoundPlan plan);
  step::StepTime time(const step::StepShape& shape) { return step::compose(shape, *this); }
  const step::BoundPlan& plan() const { return plan_; }

  // The parts, for step::compose and for sums over steps that share one.
  step::Evidence tokens(step::Pass pass, double count);
  step::Evidence samples(step::Pass pass, double count);
  step::Evidence prompts(double requests, double new_tokens, double prefix);
  step::Evidence decodes(double queries, double kv_length);

 private:
  // By knot index; a first element below 0 says "not priced yet". Grows when a larger count comes.
  using Curve = std::vector<step::Evidence>;
  // One remembered attention shape.
  struct Remembered {
    std::array<double, 3> shape{-1, -1, -1};
    step::Evidence time;
  };
  template <class Price>
  static step::Evidence on_curve(Curve& curve, double count, Price&& price);
  template <class Price>
  static step::Evidence remembered(Remembered& slot, const std::array<double, 3>& shape,
                                   Price&& price);

  step::BoundPlan plan_;
  std::array<Curve, 2> tokens_, samples_;  // by pass
  std::vector<Remembered> prompts_, decodes_;
};

}  // namespace setpoint::serve
