// SPDX-License-Identifier: Apache-2.0
#include "perfdb/curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace setpoint::perfdb {

Curve curve_of(const Slice& slice, std::size_t index, const BoundOf& bound) {
  const std::vector<std::int64_t>& xs = slice.axes.back().coordinates;
  Curve curve;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const float ms = slice.latency_ms[index * xs.size() + i];
    if (!(ms > 0)) continue;
    const auto x = static_cast<double>(xs[i]);
    curve.push_back({x, static_cast<double>(ms), bound(x), Mark::measured});
  }
  return curve;
}

bool collected_at(const Slice& slice, std::size_t index) {
  const auto knots = static_cast<std::ptrdiff_t>(slice.axes.back().size());
  const auto row = slice.latency_ms.begin() + static_cast<std::ptrdiff_t>(index) * knots;
  return std::any_of(row, row + knots, [](float ms) { return ms > 0; });
}

Grid grid_of(const Curve& curve) {
  Grid grid{{{}}, {}, {}};
  for (const Knot& knot : curve) {
    grid.axes.front().push_back(knot.x);
    grid.ms.push_back(knot.ms);
    grid.marks.push_back(knot.mark);
  }
  return grid;
}

Physics physics_of(const BoundOf& bound, double floor) {
  return {[bound](std::span<const double> at) { return bound(at.back()); }, floor};
}

Curve blend(std::span<const Neighbour> neighbours, std::span<const double> at, const BoundOf& bound,
            double floor, const LineRule& rule, Mark mark) {
  Curve curve;
  for (const double x : at) {
    double log_waste = 0, weight = 0;
    for (const Neighbour& n : neighbours) {
      const double there = x * n.stretch;
      const double there_bound = n.bound(there);
      const double ms = answer(rule, n.curve, there, there_bound, floor).ms;
      if (!(ms > 0)) continue;
      log_waste += n.weight * std::log(ms / (floor + there_bound));
      weight += n.weight;
    }
    if (!(weight > 0)) continue;
    const double here = bound(x);
    curve.push_back({x, (floor + here) * std::exp(log_waste / weight), here, mark});
  }
  return curve;
}

std::vector<Near> nearest(std::span<const double> squared_distances, std::size_t most,
                          double softening) {
  std::vector<std::size_t> order(squared_distances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return squared_distances[a] < squared_distances[b];
  });
  order.resize(std::min(order.size(), most));
  std::vector<Near> near;
  for (const std::size_t i : order) {
    near.push_back({i, 1 / (squared_distances[i] + softening)});
  }
  return near;
}

}  // namespace setpoint::perfdb
