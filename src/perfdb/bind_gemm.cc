// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/roofline.h"
#include "perfdb/bind.h"
#include "perfdb/curve.h"
#include "perfdb/tiles.h"

namespace setpoint::perfdb {
namespace {

constexpr std::size_t kSites = 4;     // neighbours of a shape that was not measured
constexpr double kSoftening = 1e-12;  // so that a site on top of another has a finite weight
constexpr double kFreeMs = 1e-12;     // stands for a scaling kernel measured as free

BoundOf bound_of(const ops::Gemm& op, const hw::System& system) {
  return [op, &system](double m) { return ops::roofline(op, {.tokens = m}, system).value(); };
}

struct Sites {
  const Slice& slice;
  std::size_t count() const { return slice.axes.front().size(); }
  std::int64_t n(std::size_t i) const { return slice.axes.front().coordinates[2 * i]; }
  std::int64_t k(std::size_t i) const { return slice.axes.front().coordinates[2 * i + 1]; }
};

// Rows below their own roofline are raised to it (AIConfigurator 0.12.0 does so at load).
Curve site_curve(const Slice& slice, std::size_t index, const BoundOf& bound) {
  Curve curve = curve_of(slice, index, bound);
  for (Knot& knot : curve) knot.ms = std::max(knot.ms, knot.bound);
  return curve;
}

Curve blended_curve(const Slice& slice, const ops::Gemm& op, const hw::System& system, double floor,
                    const LineRule& rule) {
  const Sites sites{slice};
  std::vector<double> distances;
  bool inside_n[2] = {}, inside_k[2] = {};
  std::vector<std::size_t> collected;
  for (std::size_t i = 0; i < sites.count(); ++i) {
    if (!collected_at(slice, i)) continue;
    collected.push_back(i);
    const double dn = std::log2(static_cast<double>(sites.n(i)) / static_cast<double>(op.n));
    const double dk = std::log2(static_cast<double>(sites.k(i)) / static_cast<double>(op.k));
    distances.push_back(dn * dn + dk * dk);
    inside_n[dn > 0 ? 1 : 0] = inside_k[dk > 0 ? 1 : 0] = true;
    if (dn == 0) inside_n[0] = inside_n[1] = true;
    if (dk == 0) inside_k[0] = inside_k[1] = true;
  }
  const bool inside = inside_n[0] && inside_n[1] && inside_k[0] && inside_k[1];
  std::vector<Neighbour> neighbours;
  for (const Near& near : nearest(distances, kSites, kSoftening)) {
    const std::size_t site = collected[near.index];
    const BoundOf bound = bound_of({op.quant, sites.n(site), sites.k(site)}, system);
    neighbours.push_back({site_curve(slice, site, bound), bound, near.weight});
  }
  if (neighbours.empty()) return {};
  std::vector<double> at;
  for (const Knot& knot : neighbours.front().curve) at.push_back(knot.x);
  return blend(neighbours, at, bound_of(op, system), floor, rule,
               inside ? Mark::interpolated : Mark::extrapolated);
}

std::optional<std::size_t> find_site(const Slice& slice, const ops::Gemm& op) {
  const Sites sites{slice};
  for (std::size_t i = 0; i < sites.count(); ++i) {
    if (sites.n(i) == op.n && sites.k(i) == op.k) return i;
  }
  return std::nullopt;
}

// Static scaling saves the kernel that finds the scales: its measured time at each knot's (m, k)
// comes off, never below the roofline. Beyond its table the scaling time stays as at the edge.
Result<void> subtract_scaling(const Tables& tables, const ops::Gemm& op, Curve& curve) {
  SP_TRY(const auto slice, tables.find("computescale", {std::string(ops::name(ops::Quant::fp8))}));
  if (!slice) return {};
  const LineRule flat{.above = Above::axis_secant, .below = Below::least};
  Grid grid = grid_of(*slice);
  for (std::size_t i = 0; i < grid.ms.size(); ++i) {
    if (slice->latency_ms[i] == 0) {  // measured as free
      grid.ms[i] = kFreeMs;
      grid.marks[i] = Mark::measured;
    }
  }
  const Physics nothing{[](std::span<const double>) { return 1.0; }, 0};
  const auto [least_k, most_k] = std::pair(grid.axes[1].front(), grid.axes[1].back());
  const auto [least_m, most_m] = std::pair(grid.axes[0].front(), grid.axes[0].back());
  const AxisRule axes[] = {{flat}, {flat}};
  const Surface scaling(complete(grid, axes, nothing), false);
  const double k = std::clamp(static_cast<double>(op.k), least_k, most_k);
  for (Knot& knot : curve) {
    const double saved = scaling.at(std::clamp(knot.x, least_m, most_m), k).ms;
    knot.ms = std::max(knot.ms - saved, knot.bound);
  }
  return {};
}

}  // namespace

Bound bind_gemm(const Tables& tables, const ops::Gemm& op) {
  const Family& family = *find_family("gemm");
  const bool fixed_scales = op.quant == ops::Quant::fp8_static;
  const ops::Quant stored = fixed_scales ? ops::Quant::fp8 : op.quant;
  SP_TRY(const auto slice, tables.find(family.op, {std::string(ops::name(stored))}));
  if (!slice) return std::optional<Priced>();
  const double floor = percentile_ms(*slice, family.floor_percentile) * family.floor_share;
  const AxisRule& rule = family.axes[1];
  const BoundOf bound = bound_of(op, tables.system());
  const auto site = find_site(*slice, op);
  Curve curve = site ? site_curve(*slice, *site, bound) : Curve();
  if (curve.empty()) curve = blended_curve(*slice, op, tables.system(), floor, rule.line);
  if (curve.empty()) return std::optional<Priced>();
  if (fixed_scales) {
    SP_CHECK(subtract_scaling(tables, op, curve));
  }
  const TileLanes lanes = split_by_tile(curve);
  Priced priced{.family = &family, .modulus = lanes.modulus, .floor_ms = floor};
  const Physics physics = physics_of(bound, floor);
  for (const Curve* lane : {&lanes.aligned, &lanes.broken}) {
    priced.lanes.emplace_back(complete(grid_of(*lane), {&rule, 1}, physics), false);
  }
  return std::optional(std::move(priced));
}

}  // namespace setpoint::perfdb
