// SPDX-License-Identifier: Apache-2.0
// How a step's time is put together from its parts. `Parts` gives each part: the bound plan itself,
// or a cache of it (serve::StepCache); the sum is the same code, so both give the same answer.
#pragma once

#include "step/knots.h"
#include "step/step.h"

namespace setpoint::step {

// What drives the operators of a step.
struct Drivers {
  Pass pass = Pass::decode;
  double tokens = 0, samples = 0;
  double prompts = 0;  // requests in prefill
  double queries = 0;  // decode tokens: requests x (draft + 1)
};

inline Drivers drivers(const StepShape& s) {
  Drivers d;
  d.queries = s.decodes * (s.draft + 1);
  if (s.prompts > 0 && s.prompt_tokens > 0) {
    d.pass = Pass::prefill;
    d.prompts = s.prompts;
  }
  d.tokens = d.queries + d.prompts * s.prompt_tokens;
  d.samples = d.queries + (s.sampled_prompts < 0 ? d.prompts : s.sampled_prompts);
  return d;
}

// Less than one sample a step is a mean over steps of which only some sample.
inline double sampling_share(double samples) { return std::clamp(samples, 0.0, 1.0); }

// Parts: tokens(Pass, count), samples(Pass, count), prompts(requests, new, prefix),
// decodes(queries, kv_length) -> Evidence.
template <class Parts>
StepTime compose(const StepShape& s, Parts&& parts) {
  const Drivers d = drivers(s);
  Evidence sum;
  if (d.tokens > 0) sum.add(parts.tokens(d.pass, d.tokens));
  if (d.samples > 0) sum.add(parts.samples(d.pass, d.samples), sampling_share(d.samples));
  if (d.prompts > 0) sum.add(parts.prompts(d.prompts, s.prompt_tokens, s.prefix));
  if (d.queries > 0) sum.add(parts.decodes(d.queries, s.kv_length));
  return {Ms(sum.total()), sum};
}

// The value at `count` from the values at its two knots.
template <class AtKnot>
Evidence between_knots(double count, AtKnot&& at) {
  const Knots k = knots_around(count);
  Evidence value;
  value.add(at(k.index, k.low), 1 - k.weight);
  if (k.weight > 0) value.add(at(k.index + 1, k.high), k.weight);
  return value;
}

}  // namespace setpoint::step
