// SPDX-License-Identifier: Apache-2.0
#include "perfdb/tiles.h"

#include <algorithm>
#include <cmath>

namespace setpoint::perfdb {
namespace {

constexpr int kTile = 16, kQuad = 4;
constexpr double kFalls = 1.02;  // a smaller fall is repeat noise
constexpr double kFaster = 0.9;  // of the neighbours' mean: the kernel prefers multiples of four

const Knot* knot_at(const Curve& curve, double x) {
  const auto found = std::lower_bound(curve.begin(), curve.end(), x,
                                      [](const Knot& k, double at) { return k.x < at; });
  return found != curve.end() && found->x == x ? &*found : nullptr;
}

bool prefers_quads(const Curve& curve) {
  double log_sum = 0;
  int seen = 0;
  for (int m = kQuad; m < kTile; m += kQuad) {
    const Knot *before = knot_at(curve, m - 1), *here = knot_at(curve, m);
    const Knot* after = knot_at(curve, m + 1);
    if (before == nullptr || here == nullptr || after == nullptr) continue;
    log_sum += std::log(2 * here->ms / (before->ms + after->ms));
    ++seen;
  }
  return seen > 0 && std::exp(log_sum / seen) < kFaster;
}

bool is_multiple(double x, int of) { return std::fmod(x, of) == 0; }

// From the first point of a broken tile down to the end of a full one, both with their partner.
bool falls(const Curve& curve, std::size_t i) {
  const Knot &a = curve[i], &b = curve[i + 1];
  return is_multiple(a.x - 1, kTile) && is_multiple(b.x, kTile) && a.ms > kFalls * b.ms &&
         knot_at(curve, a.x - 1) != nullptr && knot_at(curve, b.x + 1) != nullptr;
}

}  // namespace

TileLanes split_by_tile(const Curve& curve) {
  TileLanes lanes;
  if (prefers_quads(curve)) lanes.modulus = kQuad;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const bool starts_fall = i + 1 < curve.size() && falls(curve, i);
    const bool ends_fall = i > 0 && falls(curve, i - 1);
    if (!starts_fall) lanes.aligned.push_back(curve[i]);
    if (!ends_fall) lanes.broken.push_back(curve[i]);
  }
  return lanes;
}

}  // namespace setpoint::perfdb
