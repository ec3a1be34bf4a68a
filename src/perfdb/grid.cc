// SPDX-License-Identifier: Apache-2.0
#include "perfdb/grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace setpoint::perfdb {
namespace {

constexpr std::size_t kMostAxes = 6;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool known(Mark mark) { return mark != Mark::unknown; }

Grid empty_grid(std::vector<std::vector<double>> axes) {
  std::size_t cells = 1;
  for (const auto& axis : axes) cells *= axis.size();
  return {std::move(axes), std::vector<double>(cells, kNaN),
          std::vector<Mark>(cells, Mark::unknown)};
}

// Known cells of a line, with their bounds.
std::vector<Knot> knots_of(const Grid& grid, std::span<const double> bounds, std::size_t axis,
                           std::size_t first, std::size_t step) {
  std::vector<Knot> knots;
  for (std::size_t i = 0; i < grid.axes[axis].size(); ++i) {
    const std::size_t cell = first + i * step;
    if (!known(grid.marks[cell])) continue;
    knots.push_back({grid.axes[axis][i], grid.ms[cell], bounds[cell], grid.marks[cell]});
  }
  return knots;
}

std::vector<double> bounds_of(const Grid& grid, const Physics& physics) {
  std::vector<double> bounds(grid.ms.size());
  std::array<double, kMostAxes> at{};
  const std::span<double> coordinates(at.data(), grid.axes.size());
  for (std::size_t cell = 0; cell < bounds.size(); ++cell) {
    grid.coordinates(cell, coordinates);
    bounds[cell] = physics.bound(coordinates);
  }
  return bounds;
}

std::vector<double> widened(const std::vector<double>& axis, const AxisRule& rule) {
  std::vector<double> out;
  for (double x = axis.front() / 2; x > rule.lowest; x /= 2) out.push_back(x);
  if (axis.front() > rule.lowest) out.push_back(rule.lowest);
  std::reverse(out.begin(), out.end());
  for (std::size_t i = 0; i < axis.size(); ++i) {
    for (int part = 1; i > 0 && part < rule.parts; ++part) {
      out.push_back(axis[i - 1] *
                    std::pow(axis[i] / axis[i - 1], static_cast<double>(part) / rule.parts));
    }
    out.push_back(axis[i]);
  }
  for (double x = axis.back() * 2; x <= rule.highest; x *= 2) out.push_back(x);
  return out;
}

std::size_t index_of(const std::vector<double>& axis, double x) {
  return static_cast<std::size_t>(std::lower_bound(axis.begin(), axis.end(), x) - axis.begin());
}

// The grid's cells at their places on wider axes.
Grid spread(const Grid& grid, std::vector<std::vector<double>> axes) {
  Grid out = empty_grid(std::move(axes));
  std::array<double, kMostAxes> at{};
  for (std::size_t cell = 0; cell < grid.ms.size(); ++cell) {
    grid.coordinates(cell, {at.data(), grid.axes.size()});
    std::size_t to = 0;
    for (std::size_t axis = 0; axis < out.axes.size(); ++axis) {
      to += index_of(out.axes[axis], at[axis]) * out.stride(axis);
    }
    out.ms[to] = grid.ms[cell];
    out.marks[to] = grid.marks[cell];
  }
  return out;
}

// What the lines through one cell say about it.
struct Opinion {
  double log_sum = 0, weight = 0;
  Mark mark = Mark::unknown;
  bool inside = false;  // so far only lines that have known cells on both sides

  void hear(const LineAnswer& a) {
    if (a.mark == Mark::unknown || !(a.ms > 0)) return;
    const bool encloses = a.octaves_outside == 0;
    if (inside && !encloses) return;
    if (encloses && !inside) *this = {.inside = true};
    const double w = encloses ? 1 : 1 / (a.octaves_outside * a.octaves_outside);
    log_sum += w * std::log(a.ms);
    weight += w;
    mark = a.mark;
  }
};

// One round: every unknown cell hears the known cells of its lines. Returns whether any was filled.
bool fill(Grid& grid, std::span<const double> bounds, std::span<const AxisRule> rules,
          double floor) {
  std::vector<Opinion> opinions(grid.ms.size());
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    grid.each_line(axis, [&](std::size_t first, std::size_t step, std::size_t length) {
      const std::vector<Knot> knots = knots_of(grid, bounds, axis, first, step);
      if (knots.empty() || knots.size() == length) return;
      for (std::size_t i = 0; i < length; ++i) {
        const std::size_t cell = first + i * step;
        if (known(grid.marks[cell])) continue;
        opinions[cell].hear(
            answer(rules[axis].line, knots, grid.axes[axis][i], bounds[cell], floor));
      }
    });
  }
  bool filled = false;
  for (std::size_t cell = 0; cell < opinions.size(); ++cell) {
    if (!(opinions[cell].weight > 0)) continue;
    grid.ms[cell] = std::exp(opinions[cell].log_sum / opinions[cell].weight);
    grid.marks[cell] = opinions[cell].mark;
    filled = true;
  }
  return filled;
}

}  // namespace

std::size_t Grid::stride(std::size_t axis) const {
  std::size_t step = 1;
  for (std::size_t i = axis + 1; i < axes.size(); ++i) step *= axes[i].size();
  return step;
}

void Grid::coordinates(std::size_t cell, std::span<double> into) const {
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    into[axis] = axes[axis][cell % axes[axis].size()];
    cell /= axes[axis].size();
  }
}

Grid grid_of(const Slice& slice) {
  std::vector<std::vector<double>> axes;
  for (const Axis& axis : slice.axes) {
    axes.emplace_back(axis.coordinates.begin(), axis.coordinates.end());
  }
  Grid grid = empty_grid(std::move(axes));
  for (std::size_t i = 0; i < grid.ms.size(); ++i) {
    if (!(slice.latency_ms[i] > 0)) continue;
    grid.ms[i] = static_cast<double>(slice.latency_ms[i]);
    grid.marks[i] = Mark::measured;
  }
  return grid;
}

Grid fix(const Grid& grid, double at, const LineRule& rule, const Physics& physics) {
  Grid out = empty_grid({grid.axes.begin() + 1, grid.axes.end()});
  const std::vector<double>& axis = grid.axes.front();
  const bool collected = std::binary_search(axis.begin(), axis.end(), at);
  const std::size_t step = grid.stride(0);
  const std::vector<double> bounds = bounds_of(grid, physics);
  std::array<double, kMostAxes> coordinates{};
  for (std::size_t cell = 0; cell < out.ms.size(); ++cell) {
    const std::vector<Knot> knots = knots_of(grid, bounds, 0, cell, step);
    coordinates[0] = at;
    out.coordinates(cell, {coordinates.data() + 1, out.axes.size()});
    const LineAnswer a = answer(
        rule, knots, at, physics.bound({coordinates.data(), grid.axes.size()}), physics.floor);
    if (!known(a.mark)) continue;
    // A collected row keeps to itself where it ends; its holes are told by the rows around it.
    if (collected && a.octaves_outside > 0) continue;
    out.ms[cell] = a.ms;
    out.marks[cell] = a.mark;
  }
  return out;
}

Grid filled(Grid grid, std::span<const AxisRule> rules, const Physics& physics) {
  const std::vector<double> bounds = bounds_of(grid, physics);
  while (fill(grid, bounds, rules, physics.floor)) {
  }
  return grid;
}

Grid complete(const Grid& grid, std::span<const AxisRule> rules, const Physics& physics) {
  // First the measured part's own holes and missing corners, so that the margin starts from whole
  // lines rather than from whatever a short line ended with.
  const Grid inner = filled(grid, rules, physics);
  std::vector<std::vector<double>> axes;
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    axes.push_back(widened(grid.axes[axis], rules[axis]));
  }
  return filled(spread(inner, std::move(axes)), rules, physics);
}

}  // namespace setpoint::perfdb
