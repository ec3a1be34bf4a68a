// SPDX-License-Identifier: Apache-2.0
// Sets of time, as sorted and disjoint half-open intervals of microseconds.
#pragma once

#include <vector>

namespace setpoint::profile {

struct Interval {
  double begin = 0, end = 0;
  bool operator==(const Interval&) const = default;
};
using Intervals = std::vector<Interval>;

// The set that any list of intervals covers; empty and reversed ones cover nothing.
Intervals unite(Intervals parts);
Intervals unite(const Intervals& a, const Intervals& b);
Intervals intersect(const Intervals& a, const Intervals& b);
Intervals minus(const Intervals& a, const Intervals& b);
double length(const Intervals& set);

}  // namespace setpoint::profile
