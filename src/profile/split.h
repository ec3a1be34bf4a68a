// SPDX-License-Identifier: Apache-2.0
// Where a training step's time goes, in four parts that add up to it exactly: computation, exposed
// communication between GPUs, the host's side, idling. Time in which several things run counts
// once, in that order, so communication under computation is not a cost of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/trace.h"

namespace setpoint::profile {

// Milliseconds of one step of one rank.
struct Split {
  double total_ms = 0;
  // The four parts.
  double compute_ms = 0;        // something computes (copies inside the GPU, alone, included)
  double communication_ms = 0;  // only communication runs (copies between GPUs, alone, included)
  double host_ms = 0;           // the GPU waits for the host to launch, or for its copies
  double idle_ms = 0;           // nothing runs although the next work was launched already
  // Beside them.
  double all_communication_ms = 0;     // also under computation
  double hidden_communication_ms = 0;  // of it, under computation
  double send_receive_ms = 0;          // of the exposed one, between pipeline stages
  double host_copy_ms = 0, peer_copy_ms = 0, local_copy_ms = 0;  // exposed copies by direction
  double overlap() const {
    return all_communication_ms > 0 ? hidden_communication_ms / all_communication_ms : 0;
  }
};

struct StepSplit {
  std::int64_t number = 0;
  Split split;
};

// Which clock bounds a step: the device's own marks, or from the first kernel that the host
// launched inside its mark to the first one of the next (the default takes what is there), or the
// host's marks as they are.
enum class Window : std::uint8_t { device, host };

std::vector<StepSplit> split_steps(const Trace& trace, Window window = Window::device);
// Of one window of time.
Split split(const Trace& trace, const Interval& window);
// Sums divided by their number; a zero split for none.
Split mean(const std::vector<StepSplit>& steps);

}  // namespace setpoint::profile
