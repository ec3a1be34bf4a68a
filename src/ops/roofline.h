// SPDX-License-Identifier: Apache-2.0
// The work of an operator and the least time a GPU can need for it (speed of light): the larger of
// arithmetic at the pipes' peaks and bytes at the memory's or link's bandwidth. No launch cost, no
// efficiency: those are measured (src/perfdb). Formulas stand beside each operator in roofline.cc.
#pragma once

#include <array>

#include "hw/system.h"
#include "ops/op.h"
#include "setpoint/result.h"
#include "setpoint/units.h"

namespace setpoint::ops {

struct Work {
  std::array<double, kPipeNames.size()> flop{};  // by Pipe; pipes of one GPU take turns
  double bytes = 0;                              // device memory, read and written
  double link_bytes = 0;                         // sent by one GPU over the slowest link used
  BytesPerS link{};                              // that link's bandwidth; 0 = nothing is sent
};

Work work(const Op& op, const Point& at, const hw::System& system);

// Can this GPU run the operator's number format at all? The error names the missing peak; a peak
// is never derived from another format's.
Result<void> supported(const Op& op, const hw::System& system);

// Total on supported operators; a message to nobody (one rank) takes no time.
Ms roofline(const Op& op, const Point& at, const hw::System& system);

// Bandwidth per GPU that a ring over this many GPUs sees: the node's own link, or, beyond the
// node (rack), what all of a node's adapters carry together, since a ring library opens one
// channel per adapter and a byte crosses the node border once for all GPUs of the node.
BytesPerS ring_bw(std::int64_t ranks, const hw::System& system);

// The pipe that decode attention multiplies on: fp8 only for an fp8 cache on sm 89 and later.
Pipe decode_pipe(Quant kv, const hw::System& system);

}  // namespace setpoint::ops
