// SPDX-License-Identifier: Apache-2.0
// What one iteration of the engine costs. A Plan is bound to the database once; then a StepShape
// gives a StepTime. Knows nothing of queues, SLAs or time between steps (that is serve).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/plan.h"
#include "perfdb/perfdb.h"
#include "setpoint/result.h"

namespace setpoint::step {

// The work of one step on one data-parallel rank.
struct StepShape {
  double prompts = 0;           // requests in prefill
  double prompt_tokens = 0;     // new tokens of each
  double prefix = 0;            // tokens of each already in the KV cache
  double decodes = 0;           // requests that decode
  double kv_length = 0;         // tokens of each in the cache, the new one included
  int draft = 0;                // draft tokens verified beside each decode (nextn)
  double sampled_prompts = -1;  // prompts that end in this step and sample; -1 = all of them
  bool operator==(const StepShape&) const = default;
};

struct StepTime {
  Ms total{};
  perfdb::Evidence evidence;
};

struct OpTime {
  std::string name;
  double count = 0;
  Ms time{};  // count x one execution
  perfdb::Source source{};
};

// Immutable after bind; safe from any thread.
class BoundPlan {
 public:
  static Result<BoundPlan> bind(const model::Plan& plan, const perfdb::PerfDb& db);
  StepTime time(const StepShape& shape) const;
  std::vector<OpTime> breakdown(const StepShape& shape) const;

 private:
  struct Entry {
    model::PlanOp plan;
    perfdb::BoundOp bound;
  };
  explicit BoundPlan(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  std::vector<Entry> entries_;
};

}  // namespace setpoint::step
