// SPDX-License-Identifier: Apache-2.0
// What a bound operator calls. Private to the module.
#pragma once

#include "perfdb/perfdb.h"

namespace setpoint::perfdb {

class BoundOp::Pricer {
 public:
  virtual ~Pricer() = default;
  virtual Answer at(const ops::Point& point) const = 0;
};

}  // namespace setpoint::perfdb
