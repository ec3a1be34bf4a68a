// SPDX-License-Identifier: Apache-2.0
// The measured points of one slice as a dense grid of any number of axes, and the two steps that
// turn it into something a query can read without thinking:
//   fix       removes the outermost axis at one coordinate (the heads or ranks of an operator),
//   complete  fills what is unmeasured inside, and a margin of octaves around the measured part,
//             by the axes' rules (line.h).
// Both run once, when an operator is bound.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "perfdb/line.h"
#include "perfdb/slice.h"

namespace setpoint::perfdb {

struct Grid {
  std::vector<std::vector<double>> axes;  // outermost first, each ascending
  std::vector<double> ms;                 // innermost fastest
  std::vector<Mark> marks;                // per cell; ms of an unknown cell means nothing

  std::size_t stride(std::size_t axis) const;
  // Calls f(first cell, stride, length) for every line along the axis.
  template <class F>
  void each_line(std::size_t axis, F f) const {
    const std::size_t step = stride(axis), length = axes[axis].size();
    for (std::size_t block = 0; block < ms.size(); block += step * length) {
      for (std::size_t i = 0; i < step; ++i) f(block + i, step, length);
    }
  }
  // Coordinates of a cell.
  void coordinates(std::size_t cell, std::span<double> into) const;
};

// Roofline in ms at coordinates of all axes, and the table's floor in ms.
struct Physics {
  std::function<double(std::span<const double>)> bound;
  double floor = 0;
};

struct AxisRule {
  LineRule line;
  double lowest = 1, highest = 1;  // the margin: coordinates the completed axis reaches
  int parts = 1;  // pieces each measured interval is cut into, where the rule is no line
};

// Requires single-column axes. NaN becomes Mark::unknown.
Grid grid_of(const Slice& slice);
// At a collected coordinate, unmeasured cells are told by the rows on both sides or stay unknown;
// elsewhere by whatever the axis knows, beyond its known cells too.
Grid fix(const Grid& grid, double at, const LineRule& rule, const Physics& physics);
// Without unknown cells, unless there was no known one. Where two axes can tell a cell, one that
// interpolates wins over one that extrapolates, and of two that extrapolate the nearer has more
// weight (logarithmic mean by 1 / octaves^2).
Grid filled(Grid grid, std::span<const AxisRule> rules, const Physics& physics);
// Filled, and with the rules' margins around.
Grid complete(const Grid& grid, std::span<const AxisRule> rules, const Physics& physics);

}  // namespace setpoint::perfdb
