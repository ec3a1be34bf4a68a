// SPDX-License-Identifier: Apache-2.0
// The rules of AIConfigurator 0.12.0 for points off the grid, as a yardstick: straight lines
// between neighbours (in the root of time along a prompt's length), utilisation of the nearest
// points held outside, GEMM shapes from the four nearest within two octaves. NaN = it gives no
// answer.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "perfdb/slice.h"

namespace setpoint::perfdb::rival {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
using Where = std::vector<std::vector<double>>;  // one entry per axis, its columns
using Sol = std::function<double(const Where&)>;

struct Leaf {
  std::vector<double> at;
  double ms;
};

// Line inside, hold of the end outside.
inline double curve(const std::vector<std::pair<double, double>>& points, double x,
                    const std::function<double(double)>& sol, std::size_t held) {
  if (points.empty()) return kNone;
  const auto next = std::lower_bound(points.begin(), points.end(), std::pair(x, -1.0));
  if (next != points.end() && next->first == x) return next->second;
  if (next != points.begin() && next != points.end()) {
    const auto& [x0, y0] = *(next - 1);
    return y0 + (next->second - y0) * (x - x0) / (next->first - x0);
  }
  std::vector<double> utilisation;
  const std::size_t n = std::min(held, points.size());
  for (std::size_t i = 0; i < n; ++i) {
    const auto& p = next == points.begin() ? points[i] : points[points.size() - 1 - i];
    utilisation.push_back(sol(p.first) / p.second);
  }
  std::sort(utilisation.begin(), utilisation.end());
  return sol(x) / utilisation[utilisation.size() / 2];
}

// The four nearest leaves' utilisation, by (R - d)^2 / (R d)^2 with R the fifth's distance.
inline double hold(const std::vector<Leaf>& leaves, const std::vector<double>& q,
                   const std::function<double(const std::vector<double>&)>& sol) {
  std::vector<std::pair<double, const Leaf*>> near;
  for (const Leaf& leaf : leaves) {
    double d = 0;
    for (std::size_t a = 0; a < q.size(); ++a) d += std::pow(std::log2(q[a] / leaf.at[a]), 2);
    near.emplace_back(std::sqrt(d), &leaf);
  }
  if (near.empty()) return kNone;
  const std::size_t n = std::min<std::size_t>(5, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(n), near.end(),
                    [](const auto& a, const auto& b) { return a.first < b.first; });
  double sum = 0, weights = 0, plain = 0;
  const std::size_t used = std::min<std::size_t>(4, n);
  for (std::size_t i = 0; i < used; ++i) {
    const double d = near[i].first, r = n == 5 ? near[4].first : 0;
    const double w =
        n == 5 ? std::pow(std::max(0.0, r - d) / (r * d + 1e-12), 2) : 1 / (d * d + 1e-12);
    const double u = sol(near[i].second->at) / near[i].second->ms;
    sum += w * u;
    weights += w;
    plain += u / static_cast<double>(used);
  }
  return sol(q) / (weights > 0 ? sum / weights : plain);
}

// Recursion over nested axes; NaN = outside. `leaves` ascend.
inline double nested(const std::vector<Leaf>& leaves, std::vector<double> q, std::size_t axis,
                     std::size_t root,
                     const std::function<double(const std::vector<double>&)>& sol) {
  if (axis == q.size()) return leaves.front().ms;
  std::map<double, std::vector<Leaf>> children;
  for (const Leaf& leaf : leaves) children[leaf.at[axis]].push_back(leaf);
  const auto exact = children.find(q[axis]);
  if (exact != children.end()) return nested(exact->second, q, axis + 1, root, sol);
  const auto high = children.upper_bound(q[axis]);
  if (high == children.begin() || high == children.end()) return kNone;
  const auto low = std::prev(high);
  const double a = nested(low->second, q, axis + 1, root, sol);
  const double b = nested(high->second, q, axis + 1, root, sol);
  if (std::isnan(a) && std::isnan(b)) return kNone;
  if (std::isnan(a) || std::isnan(b)) {
    std::vector<double> there = q;
    there[axis] = std::isnan(a) ? high->first : low->first;
    return (std::isnan(a) ? b : a) * sol(q) / sol(there);
  }
  const double w = (q[axis] - low->first) / (high->first - low->first);
  if (axis != root) return a + (b - a) * w;
  return std::pow(std::sqrt(a) + (std::sqrt(b) - std::sqrt(a)) * w, 2);
}

inline std::vector<std::pair<double, double>> row(const Slice& slice, std::size_t outer) {
  const auto& xs = slice.axes.back().coordinates;
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const float ms = slice.latency_ms[outer * xs.size() + i];
    if (ms > 0) points.emplace_back(static_cast<double>(xs[i]), static_cast<double>(ms));
  }
  return points;
}

inline double gemm(const Slice& slice, double n, double k, double m, const Sol& sol) {
  constexpr double kGate = 2;
  std::vector<std::pair<double, std::size_t>> near;
  double most_n = 0, most_k = 0, least_n = 1e18, least_k = 1e18;
  const auto& sites = slice.axes[0].coordinates;
  for (std::size_t i = 0; i < slice.axes[0].size(); ++i) {
    const auto points = row(slice, i);
    if (points.empty()) continue;
    const auto sn = static_cast<double>(sites[2 * i]), sk = static_cast<double>(sites[2 * i + 1]);
    const auto at = [&](double x) { return sol({{sn, sk}, {x}}); };
    if (sn == n && sk == k) return curve(points, m, at, 3);
    near.emplace_back(std::hypot(std::log2(sn / n), std::log2(sk / k)), i);
    most_n = std::max(most_n, sn), most_k = std::max(most_k, sk);
    least_n = std::min(least_n, sn), least_k = std::min(least_k, sk);
  }
  std::stable_sort(near.begin(), near.end());
  if (near.empty()) return kNone;
  if (near.front().first > kGate) {
    const bool waived = (n > most_n) != (k > most_k) && n >= least_n && k >= least_k;
    if (!waived) return kNone;
  } else {
    std::erase_if(near, [](const auto& c) { return c.first > kGate; });
  }
  near.resize(std::min<std::size_t>(4, near.size()));
  double sum = 0, weights = 0;
  for (const auto& [d, i] : near) {
    const auto sn = static_cast<double>(sites[2 * i]), sk = static_cast<double>(sites[2 * i + 1]);
    const auto at = [&](double x) { return sol({{sn, sk}, {x}}); };
    const double w = 1 / (d * d + 1e-12);
    sum += w * at(m) / curve(row(slice, i), m, at, 3);
    weights += w;
  }
  return sol({{n, k}, {m}}) / (sum / weights);
}

inline double answer(const Slice& slice, const std::vector<std::vector<std::int64_t>>& cell,
                     const Sol& sol) {
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  if (slice.op == "gemm") return gemm(slice, d(cell[0][0]), d(cell[0][1]), d(cell[1][0]), sol);
  if (slice.axes.size() == 2) {  // a curve of one site or rank count; others are no help to it
    const Axis& axis = slice.axes[0];
    const bool message = slice.op != "moe";
    std::vector<double> site(cell[0].begin(), cell[0].end());
    for (std::size_t i = 0; i < axis.size(); ++i) {
      const std::size_t width = axis.columns.size();
      if (!std::equal(cell[0].begin(), cell[0].end(),
                      axis.coordinates.begin() + static_cast<std::ptrdiff_t>(i * width))) {
        continue;
      }
      return curve(
          row(slice, i), d(cell[1][0]),
          [&](double x) {
            return message ? x : sol({site, {x}});
          },
          1);
    }
    return kNone;
  }
  std::vector<Leaf> leaves;
  const std::size_t nb = slice.axes[1].size(), nc = slice.axes[2].size();
  for (std::size_t i = 0; i < slice.latency_ms.size(); ++i) {
    if (!(slice.latency_ms[i] > 0)) continue;
    leaves.push_back(
        {{d(slice.axes[0].coordinates[i / nb / nc]), d(slice.axes[1].coordinates[i / nc % nb]),
          d(slice.axes[2].coordinates[i % nc])},
         static_cast<double>(slice.latency_ms[i])});
  }
  const std::vector<double> q{d(cell[0][0]), d(cell[1][0]), d(cell[2][0])};
  const auto flat = [&](const std::vector<double>& at) { return sol({{at[0]}, {at[1]}, {at[2]}}); };
  if (leaves.empty()) return kNone;
  const bool prompt = slice.axes[1].columns.front() == "seq";
  const double inside = nested(leaves, q, 0, prompt ? 1 : 3, flat);
  return std::isnan(inside) ? hold(leaves, q, flat) : inside;
}

}  // namespace setpoint::perfdb::rival
