// SPDX-License-Identifier: Apache-2.0
// The end of the chain, without any table: the roofline divided by the efficiency that the
// family's kernels reach, plus what a launch costs. Also the analytic operators (copies, norms,
// hand-overs), which nobody tabulates.
#pragma once

#include "ops/op.h"
#include "perfdb/pricer.h"

namespace setpoint::perfdb {

// `rooflined`: exactly the speed of light, no constants.
std::shared_ptr<const BoundOp::Pricer> roofline_pricer(const ops::Op& op, const hw::System& system);
std::shared_ptr<const BoundOp::Pricer> estimate_pricer(const ops::Op& op, const hw::System& system);
// No tables exist for it, so the estimate is all there is in every mode.
bool is_analytic(const ops::Op& op);

}  // namespace setpoint::perfdb
