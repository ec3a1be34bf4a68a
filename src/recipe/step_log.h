// SPDX-License-Identifier: Apache-2.0
// The lines that a framework prints after each step, as numbers: Megatron-LM and Megatron-Bridge
// ("iteration 1/ 100 | ... lm loss: ..."), TorchTitan ("step: 1 loss: ..."), DeepSpeed's pipeline
// engine ("steps: 1 loss: ...") and the Hugging Face trainer around it ("{'loss': ...}").
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "setpoint/result.h"
#include "setpoint/units.h"

namespace setpoint::recipe {

struct StepLine {
  std::int64_t step = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> grad_norm;  // before clipping
  std::optional<Ms> time;
  std::optional<double> tokens_per_s;     // of one GPU, as TorchTitan counts them
  std::int64_t skipped = 0, invalid = 0;  // iterations the framework itself counted so
};

// Of the rank that prints the first one. No step line, one step stated twice and steps that go back
// are errors: a line that the framework did not print must not be believed.
Result<std::vector<StepLine>> read_steps(std::string_view log, const std::string& what);

}  // namespace setpoint::recipe
