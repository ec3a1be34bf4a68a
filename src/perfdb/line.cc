// SPDX-License-Identifier: Apache-2.0
#include "perfdb/line.h"

#include <algorithm>
#include <cmath>

namespace setpoint::perfdb {
namespace {

double blend(double a, double b, double w) { return a + (b - a) * w; }

double log_weight(double a, double b, double x) { return std::log(x / a) / std::log(b / a); }

double between(Between rule, const Knot& a, const Knot& b, double x, double bound, double floor) {
  const double w = (x - a.x) / (b.x - a.x);
  switch (rule) {
    case Between::line:
      return blend(a.ms, b.ms, w);
    case Between::root: {
      const double root = blend(std::sqrt(a.ms), std::sqrt(b.ms), w);
      return root * root;
    }
    case Between::log_utilisation: {
      const double waste = blend(std::log(a.ms / (floor + a.bound)),
                                 std::log(b.ms / (floor + b.bound)), log_weight(a.x, b.x, x));
      return (floor + bound) * std::exp(waste);
    }
    case Between::log_above_floor: {
      // Knots at or under the floor have no logarithm; the line is right for them.
      if (!(a.ms > floor) || !(b.ms > floor)) return blend(a.ms, b.ms, w);
      return floor + std::exp(blend(std::log(a.ms - floor), std::log(b.ms - floor),
                                    log_weight(a.x, b.x, x)));
    }
  }
  return 0;
}

// Holds the (log-mean) utilisation of `knots` against floor + bound.
double hold(std::span<const Knot> knots, double bound, double floor) {
  double waste = 0;
  for (const Knot& k : knots) waste += std::log(k.ms / (floor + k.bound));
  return (floor + bound) * std::exp(waste / static_cast<double>(knots.size()));
}

// The last point; of a pair (m, m + 1), which lies on both sides of a tile's edge, the mean.
double end_time(std::span<const Knot> knots) {
  const Knot& last = knots.back();
  if (knots.size() < 2) return last.ms;
  const Knot& before = knots[knots.size() - 2];
  return before.x == last.x - 1 ? (before.ms + last.ms) / 2 : last.ms;
}

// The last knot at least `octaves` below the end, or nothing.
const Knot* base_of(std::span<const Knot> knots, double octaves) {
  const double limit = knots.back().x / std::exp2(octaves) * (1 + 1e-9);
  for (std::size_t i = knots.size(); i-- > 0;) {
    if (knots[i].x <= limit) return &knots[i];
  }
  return nullptr;
}

double bound_secant(std::span<const Knot> knots, double bound, double floor, double octaves) {
  constexpr double kDoubled = 2;         // below this the end is still bound by launch, not by work
  constexpr std::size_t kHeldKnots = 3;  // several, because there single points scatter
  const Knot* base = base_of(knots, octaves);
  const Knot& end = knots.back();
  if (base == nullptr || end.bound < kDoubled * base->bound) {
    return hold(knots.last(std::min(knots.size(), kHeldKnots)), bound, floor);
  }
  const double time = end_time(knots);
  const double steepest = std::max(1.0, time / end.bound);
  const double slope = std::clamp((time - base->ms) / (end.bound - base->bound), 1.0, steepest);
  return time + slope * (bound - end.bound);
}

double least(std::span<const Knot> knots) {
  return std::min_element(knots.begin(), knots.end(),
                          [](const Knot& a, const Knot& b) { return a.ms < b.ms; })
      ->ms;
}

double axis_secant(std::span<const Knot> knots, double x, double bound, double floor,
                   double octaves) {
  const Knot* base = base_of(knots, octaves);
  if (base == nullptr) return hold(knots.last(1), bound, floor);
  const Knot& end = knots.back();
  const double steepest = end.ms / end.x;  // time per x so far; more of it costs no more each
  const double slope = std::clamp((end.ms - base->ms) / (end.x - base->x), 0.0, steepest);
  return end.ms + slope * (x - end.x);
}

double above(const LineRule& rule, std::span<const Knot> knots, double x, double bound,
             double floor) {
  switch (rule.above) {
    case Above::bound_secant:
      return bound_secant(knots, bound, floor, rule.octaves);
    case Above::hold:
      return hold(knots.last(1), bound, floor);
    case Above::secant_with_hold:
      return std::sqrt(bound_secant(knots, bound, floor, rule.octaves) *
                       hold(knots.last(1), bound, floor));
    case Above::axis_secant:
      return axis_secant(knots, x, bound, floor, rule.octaves);
  }
  return 0;
}

}  // namespace

LineAnswer answer(const LineRule& rule, std::span<const Knot> knots, double x, double bound,
                  double floor) {
  if (knots.empty()) return {};
  const auto next = std::lower_bound(knots.begin(), knots.end(), x,
                                     [](const Knot& k, double at) { return k.x < at; });
  if (next != knots.end() && next->x == x) return {next->ms, next->mark, 0};
  if (next == knots.begin()) {
    const double ms =
        rule.below == Below::least ? least(knots) : hold(knots.first(1), bound, floor);
    return {ms, Mark::extrapolated, std::log2(next->x / x)};
  }
  if (next == knots.end()) {
    return {above(rule, knots, x, bound, floor), Mark::extrapolated, std::log2(x / knots.back().x)};
  }
  const Knot& a = *(next - 1);
  return {between(rule.between, a, *next, x, bound, floor),
          std::max({Mark::interpolated, a.mark, next->mark}), 0};
}

}  // namespace setpoint::perfdb
