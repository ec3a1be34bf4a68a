// SPDX-License-Identifier: Apache-2.0
// The form of the compact model: which numbers describe a point of an operator family, and on which
// coarse knots its efficiency is written down. Shared by the evaluation (compact.h) and by the fit
// (tools/fit_compact), so that both read one coefficient the same way.
//
// A *coordinate* is log2 of a product: a part fixed by the operator plus any of tokens, batch and
// sequence length. A *term* is a tensor product of piecewise-linear hats over some coordinates; a
// family's value is the sum of its terms: log((floor + roofline) / time), a number of no unit.
// Form and its error: docs/accuracy-compact.md; fields of the file: docs/formats/compact.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ops/op.h"

namespace setpoint::perfdb::compact {

inline constexpr std::size_t kCoordinates = 10;
inline constexpr std::size_t kUnaligned = kCoordinates - 1;  // 1 where tokens % 16 != 0, else 0
inline constexpr std::size_t kKeyParts = 4;
inline constexpr std::size_t kMostAxes = 3;
inline constexpr std::uint8_t kNoGate = 255;

using Coordinates = std::array<double, kCoordinates>;
// What besides system, framework and family selects a coefficient set, as text ("fp8", "128").
using Key = std::array<std::string, kKeyParts>;

struct Axis {
  std::uint8_t coordinate = 0;
  std::uint8_t knots = 2;
  double first = 0, last = 1;  // coordinate at the first and last knot; beyond, the end value holds
  double knots_per_unit = (knots - 1) / (last - first);
};

struct Term {
  std::uint8_t gate = kNoGate;  // coordinate the term is multiplied with
  std::uint8_t axis_count = 0;
  std::array<Axis, kMostAxes> axes{};
  std::span<const Axis> used() const { return {axes.data(), axis_count}; }
  std::size_t size() const;  // coefficients
};

// Which step sizes a coordinate moves with.
struct Moves {
  bool tokens = false, batch = false, seq = false;
};

struct Form {
  std::string_view family;  // as ops::family()
  std::array<Moves, kCoordinates> moves{};
  std::span<const Term> terms;
  std::size_t size() const;  // coefficients of one set
};

// Families that the model covers; the position is the family's number in the file.
std::span<const Form> forms();
const Form* find_form(std::string_view family);

// What of the coordinates the operator fixes.
struct Fixed {
  Coordinates part{};
  double most_seq = 1e300;  // a decode step reads no more than the window
};

Key key_of(const ops::Op& op);
Fixed fixed_of(const ops::Op& op);
// Fixed part plus the point's. No allocation.
Coordinates coordinates(const Form& form, const Fixed& fixed, const ops::Point& point);

// Position of x on the axis in knots, 0 ... knots - 1.
inline double knot_at(const Axis& axis, double x) {
  return (std::clamp(x, axis.first, axis.last) - axis.first) * axis.knots_per_unit;
}

// Calls visit(index, weight) for each coefficient with a share in the value at x; the index counts
// through all terms, innermost axis fastest.
template <class Visit>
void for_each_hat(std::span<const Term> terms, const Coordinates& x, Visit&& visit) {
  std::size_t base = 0;
  for (const Term& term : terms) {
    const double gate = term.gate == kNoGate ? 1 : x[term.gate];
    std::array<std::size_t, kMostAxes> low{}, stride{};
    std::array<double, kMostAxes> part{};
    std::size_t size = 1;
    for (std::size_t a = term.axis_count; a-- > 0;) {
      const Axis& axis = term.axes[a];
      const double knot = knot_at(axis, x[axis.coordinate]);
      low[a] = std::min(static_cast<std::size_t>(knot), std::size_t{axis.knots} - 2);
      part[a] = knot - static_cast<double>(low[a]);
      stride[a] = size;
      size *= axis.knots;
    }
    const std::size_t corners = gate == 0 ? 0 : std::size_t{1} << term.axis_count;
    for (std::size_t corner = 0; corner < corners; ++corner) {
      double weight = gate;
      std::size_t index = base;
      for (std::size_t a = 0; a < term.axis_count; ++a) {
        const std::size_t up = (corner >> a) & 1;
        weight *= up ? part[a] : 1 - part[a];
        index += (low[a] + up) * stride[a];
      }
      if (weight != 0) visit(index, weight);
    }
    base += size;
  }
}

}  // namespace setpoint::perfdb::compact
