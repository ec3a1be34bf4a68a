// SPDX-License-Identifier: Apache-2.0
// What a table says along one axis, and the rules that answer between and beyond its points. Every
// family of operators uses these; which rule an axis takes is data (src/perfdb/family.cc).
//
// Two quantities carry the rules. The *bound* of a point is its roofline. The *floor* is what the
// shortest kernel of the table costs (launch included); utilisation is measured against
// floor + bound, because against the bound alone it collapses for small shapes.
// How each rule did on left-out points: docs/accuracy.md.
#pragma once

#include <cstdint>
#include <span>

namespace setpoint::perfdb {

// How a time came to be, from best to worst.
enum class Mark : std::uint8_t { measured, interpolated, extrapolated, unknown };

struct Knot {
  double x = 0;      // coordinate, > 0
  double ms = 0;     // measured or already estimated, > 0
  double bound = 0;  // roofline, ms
  Mark mark = Mark::measured;
};

enum class Between : std::uint8_t {
  line,             // straight in x and time
  root,             // straight in x and the root of time: work grows with x squared
  log_utilisation,  // log of (floor + bound) / time, straight in log x
  log_above_floor,  // log of time - floor, straight in log x
};
enum class Above : std::uint8_t {
  bound_secant,      // time grows with the bound, at the slope of the last octaves (>= 1)
  hold,              // utilisation of the last point
  secant_with_hold,  // geometric mean of the two
  axis_secant,       // time grows with x, at the slope of the last octaves (0 to time / x)
};
enum class Below : std::uint8_t {
  hold,   // utilisation of the first point
  least,  // the least time of all points
};

struct LineRule {
  Between between = Between::line;
  Above above = Above::bound_secant;
  Below below = Below::hold;
  double octaves = 2;  // the secant's base line
};

struct LineAnswer {
  double ms = 0;
  Mark mark = Mark::unknown;
  double octaves_outside = 0;  // 0 inside the knots
};

// Knots ascend in x; none gives Mark::unknown. A point on a knot is the knot.
LineAnswer answer(const LineRule& rule, std::span<const Knot> knots, double x, double bound,
                  double floor);

}  // namespace setpoint::perfdb
