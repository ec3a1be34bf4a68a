// SPDX-License-Identifier: Apache-2.0
// Step times remembered by what they depend on: token-driven operators by token count, attention by
// its shape. Makes a further (batch, budget) of one layout cost a few look-ups. Not thread-safe.
#pragma once

#include "step/step.h"

namespace setpoint::serve {

class StepCache {
 public:
  explicit StepCache(step::BoundPlan plan) : plan_(std::move(plan)) {}
  step::StepTime time(const step::StepShape& shape) { return plan_.time(shape); }
  const step::BoundPlan& plan() const { return plan_; }

 private:
  step::BoundPlan plan_;
};

}  // namespace setpoint::serve
