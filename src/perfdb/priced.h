// SPDX-License-Identifier: Apache-2.0
// What binding an operator to its tables yields: completed surfaces and how a Point reads them.
// A value: it may still be scaled or marked (borrowed from a sister) before it becomes a Pricer.
#pragma once

#include <memory>
#include <vector>

#include "perfdb/family.h"
#include "perfdb/pricer.h"
#include "perfdb/surface.h"

namespace setpoint::perfdb {

struct Priced {
  const Family* family = nullptr;
  // One, or two where whole tiles take another time than broken ones: lane 0 answers multiples of
  // `modulus`, lane 1 the rest.
  std::vector<Surface> lanes{};
  int modulus = 1;
  double scale = 1;                 // Drive::tokens: coordinate of one token (bytes, or 1)
  double floor_ms = 0;              // of the table
  Source least = Source::measured;  // what even a collected point rests on
  double window = 0;                // sliding window of prefill attention, 0 = full
  double cached_token_ms = 0;       // roofline of reading one cached token of one sequence

  // Every time x ratio(point): a sister's table, brought to this operator and system.
  void scale_by(const std::function<double(const ops::Point&)>& ratio);
};

std::shared_ptr<const BoundOp::Pricer> make_pricer(Priced priced);

}  // namespace setpoint::perfdb
