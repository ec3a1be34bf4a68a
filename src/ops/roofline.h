// SPDX-License-Identifier: Apache-2.0
// The work of an operator and the least time a GPU can need for it (speed of light): the larger of
// arithmetic at the pipe's peak and bytes at the memory's or link's bandwidth. No launch cost.
// Formulas: docs/design.md, "Operators"; attention and MoE as in the paper's SOL mode.
#pragma once

#include "hw/system.h"
#include "ops/op.h"
#include "setpoint/result.h"
#include "setpoint/units.h"

namespace setpoint::ops {

struct Work {
  double flop = 0;
  Pipe pipe = Pipe::bf16;
  double bytes = 0;       // device memory
  double link_bytes = 0;  // sent over the slowest link used
  BytesPerS link{};       // that link's bandwidth; 0 when nothing is sent
};

Work work(const Op& op, const Point& at, const hw::System& system);

// Can this GPU run the operator's number format at all? The error names the missing peak.
Result<void> supported(const Op& op, const hw::System& system);

// Total on supported operators.
Ms roofline(const Op& op, const Point& at, const hw::System& system);

}  // namespace setpoint::ops
