// SPDX-License-Identifier: Apache-2.0
// Any bytes as a training log and as a file of signals: an error line, or steps in rising order and
// signals whose distances from themselves can be taken.
#include <cstdlib>

#include "judge/signals.h"
#include "recipe/step_log.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  judge::Evidence evidence;
  if (auto steps = recipe::read_steps(text, "log"); steps.ok()) {
    for (std::size_t i = 1; i < steps->size(); ++i) {
      if ((*steps)[i].step <= (*steps)[i - 1].step) std::abort();
    }
    evidence.steps = *steps;
  }
  if (auto signals = judge::read_signals(text, "signals"); signals.ok())
    evidence.signals = *signals;
  (void)judge::judge_signals(judge::distances(evidence, evidence, judge::AdamW{}), {});
  return 0;
}
