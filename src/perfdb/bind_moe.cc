// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "ops/roofline.h"
#include "perfdb/bind.h"
#include "perfdb/curve.h"

namespace setpoint::perfdb {
namespace {

constexpr std::size_t kNeighbours = 6;
constexpr double kSoftening = 0.1;  // octaves^2: near shapes share the weight, none takes it all
constexpr double kLowLatencyTokens = 128;  // up to here TensorRT-LLM takes its low-latency kernel

// A skew the tables were collected with.
struct Skew {
  std::string name;
  double alpha;
};

constexpr std::string_view kEven = "balanced", kPowerLaw = "power_law_";

std::optional<Skew> parse_skew(const std::string& name) {
  if (name == kEven) return Skew{name, 0};
  if (!name.starts_with(kPowerLaw)) return std::nullopt;
  double alpha = 0;
  const char* begin = name.data() + kPowerLaw.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), alpha);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return Skew{name, alpha};
}

// Skews collected for this format, ascending; "balanced" stands for 0 where both were.
Result<std::vector<Skew>> skews_of(const Tables& tables, std::string_view table,
                                   const std::string& quant) {
  SP_TRY(const auto keys, tables.keys(table));
  std::vector<Skew> skews;
  for (const Keys& k : keys) {
    if (k.at(0) != quant) continue;
    if (const auto skew = parse_skew(k.at(1))) skews.push_back(*skew);
  }
  std::stable_sort(skews.begin(), skews.end(), [](const Skew& a, const Skew& b) {
    return std::pair(a.alpha, a.name != kEven) < std::pair(b.alpha, b.name != kEven);
  });
  const auto same = [](const Skew& a, const Skew& b) { return a.alpha == b.alpha; };
  skews.erase(std::unique(skews.begin(), skews.end(), same), skews.end());
  return skews;
}

using Shape = std::array<std::int64_t, 6>;  // topk experts hidden inter tp ep, as the site axis

Shape shape_of(const ops::Moe& op) {
  return {op.topk, op.experts, op.hidden, op.inter, op.tp, op.ep};
}

ops::Moe with_shape(ops::Moe op, const Shape& s) {
  op.topk = s[0], op.experts = s[1], op.hidden = s[2], op.inter = s[3], op.tp = s[4], op.ep = s[5];
  return op;
}

Shape site(const Slice& slice, std::size_t i) {
  Shape shape{};
  std::copy_n(slice.axes.front().coordinates.begin() + static_cast<std::ptrdiff_t>(6 * i), 6,
              shape.begin());
  return shape;
}

// Arithmetic and memory one after the other: expert kernels overlap them badly, and the sum
// transfers between shapes better than the larger (whole models left out: 12.6 % against 14.5 %).
// Of the experts on a rank, a skewed load leaves some idle: 1 - exp(-rows per expert) are read.
BoundOf bound_of(const ops::Moe& op, const hw::System& system) {
  return [op, &system](double tokens) {
    const auto d = [](std::int64_t v) { return static_cast<double>(v); };
    const double experts = d(op.experts) / d(op.ep);
    const double rows = tokens * d(op.topk) / d(op.ep);
    const double read =
        op.alpha > 0 ? experts * -std::expm1(-rows / experts) : std::min(experts, rows);
    const double weights = d(op.hidden) * d(op.inter) / d(op.tp) * (op.gated ? 3 : 2);
    const ops::QuantInfo& quant = ops::info(op.quant);
    const auto peak = system.gpu.peak[static_cast<std::size_t>(quant.pipe)];
    return (time_of(Flop(2 * rows * weights), peak) +
            time_of(quant.bytes * (read * weights + 2 * rows * d(op.hidden)), system.gpu.memory_bw))
        .value();
  };
}

std::array<double, 5> features(const Shape& s) {
  const auto l = [](std::int64_t v) { return std::log2(static_cast<double>(v)); };
  return {0.7 * l(s[0]), l(s[1]) - l(s[5]), l(s[2]), l(s[3]) - l(s[4]), 0.3 * l(s[5])};
}

double squared_distance(const Shape& a, const Shape& b) {
  const auto fa = features(a), fb = features(b);
  double sum = 0;
  for (std::size_t i = 0; i < fa.size(); ++i) sum += (fa[i] - fb[i]) * (fa[i] - fb[i]);
  return sum;
}

// A shape never measured, from six near ones: once at the same tokens, once at the same tokens per
// expert; the mean of the two in log.
Curve borrowed_curve(const Slice& slice, const ops::Moe& op, const hw::System& system, double floor,
                     const LineRule& rule) {
  std::vector<double> distances;
  std::vector<std::size_t> collected;
  for (std::size_t i = 0; i < slice.axes.front().size(); ++i) {
    if (!collected_at(slice, i)) continue;
    collected.push_back(i);
    distances.push_back(squared_distance(site(slice, i), shape_of(op)));
  }
  std::vector<Neighbour> neighbours;
  for (const Near& near : nearest(distances, kNeighbours, kSoftening)) {
    const ops::Moe there = with_shape(op, site(slice, collected[near.index]));
    const BoundOf bound = bound_of(there, system);
    const double per_expert =
        static_cast<double>(op.topk * there.experts) / static_cast<double>(op.experts * there.topk);
    const Curve curve = curve_of(slice, collected[near.index], bound);
    neighbours.push_back({curve, bound, near.weight, 1});
    neighbours.push_back({curve, bound, near.weight, per_expert});
  }
  if (neighbours.empty()) return {};
  std::vector<double> at;
  for (const Knot& knot : neighbours.front().curve) at.push_back(knot.x);
  return blend(neighbours, at, bound_of(op, system), floor, rule, Mark::extrapolated);
}

std::optional<std::size_t> find_site(const Slice& slice, const Shape& shape) {
  for (std::size_t i = 0; i < slice.axes.front().size(); ++i) {
    if (site(slice, i) == shape) return i;
  }
  return std::nullopt;
}

struct SkewedCurve {
  Curve curve;
  bool collected = true;  // the shape itself, not its neighbours
  double floor = 0;
};

Result<std::optional<SkewedCurve>> curve_at(const Tables& tables, const ops::Moe& op,
                                            const Skew& skew) {
  const Family& family = *find_family("moe");
  SP_TRY(const auto slice, tables.find(family.op, {std::string(ops::name(op.quant)), skew.name}));
  if (!slice) return std::optional<SkewedCurve>();
  SkewedCurve found;
  found.floor = percentile_ms(*slice, family.floor_percentile) * family.floor_share;
  const LineRule& rule = family.axes[1].line;
  if (const auto index = find_site(*slice, shape_of(op))) {
    found.curve = curve_of(*slice, *index, bound_of(op, tables.system()));
  }
  if (found.curve.empty()) {
    found.collected = false;
    found.curve = borrowed_curve(*slice, op, tables.system(), found.floor, rule);
  }
  if (found.curve.empty()) return std::optional<SkewedCurve>();
  return std::optional(std::move(found));
}

// Straight in log time over alpha, at the tokens of the first.
SkewedCurve between(const SkewedCurve& a, const SkewedCurve& b, double weight,
                    const LineRule& rule) {
  SkewedCurve out{{}, a.collected && b.collected, std::min(a.floor, b.floor)};
  for (const Knot& k : a.curve) {
    const double other = answer(rule, b.curve, k.x, k.bound, b.floor).ms;
    out.curve.push_back({k.x, k.ms * std::pow(other / k.ms, weight), k.bound, Mark::interpolated});
  }
  return out;
}

// The two collected skews to answer from, and the weight of the second: the neighbours, or the
// outermost two continued.
struct Bracket {
  Skew low, high;
  double weight = 0;
};
Bracket bracket(const std::vector<Skew>& skews, double alpha) {
  std::size_t i = 0;
  while (i + 2 < skews.size() && skews[i + 1].alpha <= alpha) ++i;
  if (skews.size() == 1) return {skews[0], skews[0], 0};
  const Skew &low = skews[i], &high = skews[i + 1];
  return {low, high, (alpha - low.alpha) / (high.alpha - low.alpha)};
}

Result<std::optional<SkewedCurve>> skewed_curve(const Tables& tables, const ops::Moe& op) {
  const LineRule& rule = find_family("moe")->axes[1].line;
  SP_TRY(const auto skews, skews_of(tables, "moe", std::string(ops::name(op.quant))));
  if (skews.empty()) return std::optional<SkewedCurve>();
  const Bracket at = bracket(skews, op.alpha);
  if (at.weight == 0) return curve_at(tables, op, at.low);
  if (at.weight == 1) return curve_at(tables, op, at.high);
  SP_TRY(const auto low, curve_at(tables, op, at.low));
  SP_TRY(const auto high, curve_at(tables, op, at.high));
  if (!low) return high;
  if (!high) return low;
  return std::optional(between(*low, *high, at.weight, rule));
}

// TensorRT-LLM serves few tokens of gated nvfp4 experts with another kernel, where it has one for
// the shape.
Result<void> add_low_latency(const Tables& tables, const ops::Moe& op, Curve& curve) {
  if (op.quant != ops::Quant::nvfp4 || !op.gated) return {};
  SP_TRY(const auto skews, skews_of(tables, "moe_low_latency", std::string(ops::name(op.quant))));
  for (const Skew& skew : skews) {
    if (skew.alpha != op.alpha) continue;
    SP_TRY(const auto slice,
           tables.find("moe_low_latency", {std::string(ops::name(op.quant)), skew.name}));
    const auto index = slice ? find_site(*slice, shape_of(op)) : std::nullopt;
    if (!index) continue;
    std::erase_if(curve, [](const Knot& k) { return k.x <= kLowLatencyTokens; });
    Curve fast = curve_of(*slice, *index, bound_of(op, tables.system()));
    std::erase_if(fast, [](const Knot& k) { return k.x > kLowLatencyTokens; });
    curve.insert(curve.begin(), fast.begin(), fast.end());
  }
  return {};
}

}  // namespace

Bound bind_moe(const Tables& tables, const ops::Moe& op) {
  const Family& family = *find_family("moe");
  SP_TRY(auto found, skewed_curve(tables, op));
  if (!found) return std::optional<Priced>();
  if (found->collected) {
    SP_CHECK(add_low_latency(tables, op, found->curve));
  }
  Priced priced{.family = &family, .floor_ms = found->floor};
  if (!found->collected) priced.least = Source::borrowed;
  const Physics physics = physics_of(bound_of(op, tables.system()), found->floor);
  priced.lanes.emplace_back(complete(grid_of(found->curve), {&family.axes[1], 1}, physics), false);
  return std::optional(std::move(priced));
}

}  // namespace setpoint::perfdb
