// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/roofline.h"
#include "perfdb/bind.h"

namespace setpoint::perfdb {
namespace {

std::string text(std::int64_t v) { return std::to_string(v); }
std::string text(ops::Quant q) { return std::string(ops::name(q)); }

// The tables write 0 where every head has its own keys and values.
std::string kv_heads_key(std::int64_t heads, std::int64_t kv_heads) {
  return text(heads == kv_heads ? 0 : kv_heads);
}

struct KeysOf {
  Keys operator()(const ops::ContextAttention& o) const {
    return {text(o.fmha), text(o.kv), kv_heads_key(o.heads, o.kv_heads), text(o.head_dim),
            text(o.window)};
  }
  Keys operator()(const ops::GenerationAttention& o) const {
    return {text(o.kv), kv_heads_key(o.heads, o.kv_heads), text(o.head_dim), text(o.window)};
  }
  Keys operator()(const ops::EncoderAttention& o) const { return {text(o.fmha), text(o.head_dim)}; }
  Keys operator()(const ops::ContextMla& o) const { return {text(o.fmha), text(o.kv)}; }
  Keys operator()(const ops::GenerationMla& o) const { return {text(o.kv)}; }
  Keys operator()(const ops::MlaContextModule& o) const {
    return {text(o.fmha), text(o.kv), text(o.gemm), text(o.native_heads)};
  }
  Keys operator()(const ops::MlaGenerationModule& o) const {
    return {text(o.kv), text(o.gemm), text(o.native_heads)};
  }
  Keys operator()(const ops::MlaBmm& o) const { return {text(o.quant), o.pre ? "pre" : "post"}; }
  Keys operator()(const ops::Gemm& o) const { return {text(o.quant)}; }
  Keys operator()(const ops::Moe& o) const {
    return {text(o.quant), o.alpha > 0 ? fmt::format("power_law_{}", o.alpha) : "balanced"};
  }
  Keys operator()(const ops::Collective& o) const {
    return {std::string(ops::kCollectiveNames[static_cast<std::size_t>(o.kind)]), text(o.quant)};
  }
  template <class Other>
  Keys operator()(const Other&) const {
    return {};
  }
};

// The operator with another number of heads on this GPU; grouping is kept as the table keeps it.
struct WithHeads {
  std::int64_t heads;
  template <class O>
  ops::Op operator()(O o) const {
    if constexpr (requires { o.kv_heads; }) {
      if (o.kv_heads == o.heads) o.kv_heads = heads;
    }
    if constexpr (requires { o.heads; }) o.heads = heads;
    return o;
  }
};

double heads_of(const ops::Op& op) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.heads; }) return static_cast<double>(o.heads);
        return 0.0;
      },
      op);
}

// Roofline at (heads, outer, inner) or (heads, inner).
double bound_at(const Family& family, const ops::Op& op, std::span<const double> at,
                const hw::System& system) {
  const ops::Op there = std::visit(WithHeads{static_cast<std::int64_t>(at[0])}, op);
  const double outer = at.size() > 2 ? at[1] : 0;
  return ops::roofline(there, point_of(family.drive, outer, at.back(), 1), system).value();
}

void raise_to_roofline(Grid& grid, const Physics& physics) {
  std::vector<double> at(grid.axes.size());
  for (std::size_t cell = 0; cell < grid.ms.size(); ++cell) {
    grid.coordinates(cell, at);
    grid.ms[cell] = std::max(grid.ms[cell], physics.bound(at));
  }
}

// Time in which one cached token of one sequence is read at full bandwidth.
double cached_token_ms(const ops::Op& op, const hw::System& system) {
  const ops::Work with = ops::work(op, {.batch = 1, .seq = 1, .prefix = 1}, system);
  const ops::Work without = ops::work(op, {.batch = 1, .seq = 1}, system);
  return time_of(with.bytes - without.bytes, system.gpu.memory_bw).value();
}

}  // namespace

double percentile_ms(const Slice& slice, double percentile) {
  std::vector<float> known;
  for (const float ms : slice.latency_ms) {
    if (ms > 0) known.push_back(ms);
  }
  if (known.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(percentile * static_cast<double>(known.size() - 1));
  std::nth_element(known.begin(), known.begin() + at, known.end());
  return static_cast<double>(known[static_cast<std::size_t>(at)]);
}

Keys table_keys(const ops::Op& op) { return std::visit(KeysOf{}, op); }

Bound bind_grid(const Tables& tables, const ops::Op& op) {
  const Family& family = *find_family(ops::family(op));
  SP_TRY(const auto slice, tables.find(family.op, table_keys(op)));
  if (!slice) return std::optional<Priced>();
  const double heads = heads_of(op);
  const double floor = percentile_ms(*slice, family.floor_percentile) * family.floor_share;
  const Physics whole{
      [&](std::span<const double> at) { return bound_at(family, op, at, tables.system()); }, floor};
  Grid grid = grid_of(*slice);
  if (family.at_least_roofline) raise_to_roofline(grid, whole);
  // Rows of some head counts hold few points; the rows around them know more about their holes than
  // their own far ends do.
  std::vector<AxisRule> every_axis{{family.fixed}};
  every_axis.insert(every_axis.end(), family.axes.end() - (grid.axes.size() - 1),
                    family.axes.end());
  const Grid at_heads = fix(filled(grid, every_axis, whole), heads, family.fixed, whole);
  if (std::all_of(at_heads.marks.begin(), at_heads.marks.end(),
                  [](Mark m) { return m == Mark::unknown; })) {
    return std::optional<Priced>();
  }
  const Physics rest{[&](std::span<const double> at) {
                       const double outer = at.size() > 1 ? at[0] : 0;
                       return ops::roofline(op, point_of(family.drive, outer, at.back(), 1),
                                            tables.system())
                           .value();
                     },
                     floor};
  const auto rules = std::span(family.axes).last(at_heads.axes.size());
  Priced priced{.family = &family, .floor_ms = floor};
  priced.lanes.emplace_back(complete(at_heads, rules, rest),
                            rules.front().line.between == Between::root);
  if (family.drive == Drive::prompt) priced.cached_token_ms = cached_token_ms(op, tables.system());
  if (const auto* prompt = std::get_if<ops::ContextAttention>(&op)) {
    priced.window = static_cast<double>(prompt->window);
  }
  return std::optional(std::move(priced));
}

Bound bind_tables(const Tables& tables, const ops::Op& op) {
  if (const auto* gemm = std::get_if<ops::Gemm>(&op)) return bind_gemm(tables, *gemm);
  if (const auto* moe = std::get_if<ops::Moe>(&op)) return bind_moe(tables, *moe);
  if (std::holds_alternative<ops::CustomAllReduce>(op) ||
      std::holds_alternative<ops::Collective>(op)) {
    return bind_collective(tables, op);
  }
  if (find_family(ops::family(op)) == nullptr) return std::optional<Priced>();
  return bind_grid(tables, op);
}

}  // namespace setpoint::perfdb
