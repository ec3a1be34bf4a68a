// SPDX-License-Identifier: Apache-2.0
// Errors that can be planted in simulated runs, and what each moves. Sizes were measured on a toy
// network (3-gram, 256 words, four ranks of four micro-batches; random and trained weights, each
// kind against the correct run).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "recipe/final_values.h"

namespace setpoint::cluster {

// What an error does to the evidence of a run.
struct Effect {
  std::string_view name, what;
  double loss = 0;               // relative shift of the first loss, trained weights
  double random_loss = 0;        // the same from random weights
  double token_correlation = 1;  // of losses per token with the correct run's, trained
  double random_correlation = 1;
  double token_shift = 0;       // added to each token's loss, in its standard deviations
  std::string_view group = "";  // of parameters; "" = all
  double gradient = 1;          // factor on the group's gradient
  double cosine = 1;            // of its direction with the correct one
  double without = 0;           // share of its elements that get no gradient
  double later = 0;             // relative shift of later losses that grows in
  int mantissa = 0;             // bits that gradients keep; 0 = as usual
  bool replicas = false;        // copies of the group's gradient differ between ranks
};
std::span<const Effect> effects();

// One planted error: in runs whose final values have all of these (none: in every run).
struct Fault {
  const Effect* effect = nullptr;
  std::vector<std::pair<std::string, base::Json>> when;
  bool acts_on(const recipe::FinalValues& values) const;
};
// {"error": "missing_sum", "when": {"model.tensor_model_parallel_size": 1}}
Result<Fault> read_fault(const base::JsonView& json);

}  // namespace setpoint::cluster
