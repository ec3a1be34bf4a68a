// SPDX-License-Identifier: Apache-2.0
// What a person checks about a register: its counts, names in its rules that nothing has, and the
// difference of two versions of it by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge/register.h"

namespace setpoint::judge {

struct RegisterSummary {
  struct Count {
    int curated = 0, by_name = 0;
  };
  std::map<Class, Count> parameters, environment;
  int facts_computed = 0, facts_read = 0;
  int effects = 0, opaque_effects = 0;     // a condition or value that is `?`
  std::vector<std::string> unknown_names;  // "tensor_model_parallel_size: fact..." in rules
};
RegisterSummary summary_of(const Register& of);

struct RegisterChange {
  std::string name;  // of variables "env.X"
  std::string before, after;
};
// New entries are unjudged until a person has looked at them, whatever they say.
struct RegisterDiff {
  std::vector<std::string> added, removed;
  std::vector<RegisterChange> defaults, judgements;
  std::vector<std::string> new_effects;  // "sequence_parallel = false (arguments.py:...)"
  bool empty() const {
    return added.empty() && removed.empty() && defaults.empty() && judgements.empty() &&
           new_effects.empty();
  }
};
RegisterDiff diff_of(const Register& before, const Register& after);

// "conditional, high: fact.weights_loaded && ...", with "by name" where nobody judged it.
std::string judgement_text(const Entry& entry);

}  // namespace setpoint::judge
