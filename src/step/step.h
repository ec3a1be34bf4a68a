// SPDX-License-Identifier: Apache-2.0
// What one iteration of the engine costs. A Plan is bound to the database once; then a StepShape
// gives a StepTime. Knows nothing of queues, SLAs or time between steps (that is serve).
//
// A step's time is a sum of four parts, each a function of one or two numbers (compose.h adds
// them):
//   tokens   operators driven by the step's token count
//   samples  the LM head, driven by the sequences that sample
//   prompts  prefill attention, by requests, new tokens and prefix
//   decodes  decode attention, by query tokens and KV length
// The first two are priced at token counts of seven significant bits and linearly between
// (knots.h), so that a layout has few hundred different values; table columns are such counts.
#pragma once

#include <string>
#include <vector>

#include "model/plan.h"
#include "perfdb/perfdb.h"
#include "setpoint/result.h"

namespace setpoint::step {

using perfdb::Evidence;

// The work of one step on one data-parallel rank. Counts may be means over steps (fractions).
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
  Evidence evidence;
};

struct OpTime {
  std::string name;
  double count = 0;
  Ms time{};  // count x one execution
  perfdb::Source source{};
  bool hidden = false;  // runs beside a longer lane and is not part of the step's time
};

// A step with prompts is a prefill step, whether or not it carries decodes.
enum class Pass : std::uint8_t { prefill, decode };

// Immutable after bind; safe from any thread. The parts never fail and never allocate.
class BoundPlan {
 public:
  static Result<BoundPlan> bind(const model::Plan& plan, const perfdb::PerfDb& db);

  StepTime time(const StepShape& shape) const;
  // Every operator that runs in this step, in the plan's order.
  std::vector<OpTime> breakdown(const StepShape& shape) const;

  Evidence tokens(Pass pass, double count) const;   // count: a knot
  Evidence samples(Pass pass, double count) const;  // count: a knot
  Evidence prompts(double requests, double new_tokens, double prefix) const;
  Evidence decodes(double queries, double kv_length) const;

 private:
  // One distinct operator; equal ones of a plan are priced together.
  struct Term {
    perfdb::BoundOp op;
    ops::Op shape;
    double count;
    model::Drive drive;
    model::Phase phase;
    model::Lane lane;
    double times, over;
  };
  struct Entry {
    std::string name;
    double count;
    std::size_t term;
  };
  static bool runs(const Term& term, Pass pass);
  static ops::Point point(const Term& term, const StepShape& shape, double count);
  OpTime price(const Entry& entry, const StepShape& queries, double driver) const;
  Evidence sum(model::Drive drive, Pass pass, const StepShape& shape, double count) const;

  std::vector<Term> terms_;
  std::vector<Entry> entries_;
};

}  // namespace setpoint::step
