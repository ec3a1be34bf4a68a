// SPDX-License-Identifier: Apache-2.0
#include "perfdb/surface.h"

#include <algorithm>
#include <cmath>

namespace setpoint::perfdb {
namespace {

// Where a coordinate lies: piece [low, low + 1] and the weight of its upper end.
struct Place {
  std::size_t low = 0;
  double weight = 0;
};

Place find(const std::vector<double>& axis, double x) {
  if (axis.size() < 2) return {};
  const auto above = std::upper_bound(axis.begin() + 1, axis.end() - 1, x);
  const auto low = static_cast<std::size_t>(above - axis.begin()) - 1;
  return {low, (x - axis[low]) / (axis[low + 1] - axis[low])};
}

}  // namespace

Surface::Surface(const Grid& grid, bool root)
    : outer_(grid.axes.size() > 1 ? grid.axes.front() : std::vector<double>{0}),
      inner_(grid.axes.back()),
      ms_(grid.ms),
      marks_(grid.marks),
      root_(root) {}

Surface::Value Surface::row(std::size_t outer, std::size_t inner, double weight) const {
  const std::size_t cell = outer * inner_.size() + inner;
  if (weight == 0) return {ms_[cell], marks_[cell]};
  if (weight == 1) return {ms_[cell + 1], marks_[cell + 1]};
  const double a = ms_[cell], b = ms_[cell + 1];
  return {std::max(a + (b - a) * weight, a / 100),
          std::max({Mark::interpolated, marks_[cell], marks_[cell + 1]})};
}

Surface::Value Surface::at(double outer, double inner) const {
  const Place i = find(inner_, inner);
  const Place o = find(outer_, outer);
  const Value a = row(o.low, i.low, i.weight);
  if (o.weight == 0) return a;
  const Value b = row(o.low + 1, i.low, i.weight);
  if (o.weight == 1) return b;
  const Mark mark = std::max({Mark::interpolated, a.mark, b.mark});
  if (!root_) return {std::max(a.ms + (b.ms - a.ms) * o.weight, a.ms / 100), mark};
  const double low = std::sqrt(a.ms);
  const double root = std::max(low + (std::sqrt(b.ms) - low) * o.weight, low / 10);
  return {root * root, mark};
}

}  // namespace setpoint::perfdb
