// SPDX-License-Identifier: Apache-2.0
// Curves over tokens of scattered sites (GEMM shapes, expert shapes): taking one out of a slice,
// and making one for a site that was never measured out of its neighbours'.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "perfdb/grid.h"
#include "perfdb/slice.h"

namespace setpoint::perfdb {

// Knots ascend in x and carry their bound.
using Curve = std::vector<Knot>;
using BoundOf = std::function<double(double x)>;

// The measured points of site `index` of a slice of [site][x].
Curve curve_of(const Slice& slice, std::size_t index, const BoundOf& bound);
bool collected_at(const Slice& slice, std::size_t index);  // is any point of the site measured?
Grid grid_of(const Curve& curve);                          // one axis, the same marks
// What Grid::complete needs, along one axis.
Physics physics_of(const BoundOf& bound, double floor);

struct Neighbour {
  Curve curve;
  BoundOf bound;       // of the neighbour's site
  double weight = 1;   // how much it counts
  double stretch = 1;  // x of the neighbour that stands for the target's x is x times this
};

// The curve of a site out of its neighbours' at each of `at`: utilisation against floor + bound is
// blended in log by weight. `rule` reads the neighbours' curves.
Curve blend(std::span<const Neighbour> neighbours, std::span<const double> at, const BoundOf& bound,
            double floor, const LineRule& rule, Mark mark);

// The places of the `most` smallest distances, nearest first (earlier first when equal), with
// weight 1 / (distance^2 + softening).
struct Near {
  std::size_t index;
  double weight;
};
std::vector<Near> nearest(std::span<const double> squared_distances, std::size_t most,
                          double softening);

}  // namespace setpoint::perfdb
