// SPDX-License-Identifier: Apache-2.0
// The chain's link before the roofline: the compact model that travels in the binary.
#pragma once

#include <memory>
#include <string_view>

#include "ops/op.h"
#include "perfdb/pricer.h"

namespace setpoint::perfdb {

// Null where the model has nothing near: another family, or a GPU generation nobody measured.
std::shared_ptr<const BoundOp::Pricer> compact_pricer(const ops::Op& op, const hw::System& system,
                                                      std::string_view framework);

}  // namespace setpoint::perfdb
