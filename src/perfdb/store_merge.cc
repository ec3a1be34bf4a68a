// SPDX-License-Identifier: Apache-2.0
// One slice out of several that complete each other.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "perfdb/store.h"

namespace setpoint::perfdb {
namespace {

using Coordinates = std::vector<std::int64_t>;

Coordinates at(const Axis& axis, std::size_t i) {
  const auto width = static_cast<std::ptrdiff_t>(axis.columns.size());
  const auto begin = axis.coordinates.begin() + static_cast<std::ptrdiff_t>(i) * width;
  return {begin, begin + width};
}

// The union of one axis over all parts, and where each part's entries stand on it.
struct United {
  Axis axis;
  std::vector<std::vector<std::size_t>> places;
};

United unite(std::span<const Slice> parts, std::size_t which) {
  United united{{parts.front().axes[which].columns, {}}, {}};
  std::map<Coordinates, std::size_t> place;  // ascending: the order of an axis that is not a site
  std::vector<Coordinates> seen;
  for (const Slice& part : parts) {
    for (std::size_t i = 0; i < part.axes[which].size(); ++i) {
      if (place.emplace(at(part.axes[which], i), seen.size()).second) {
        seen.push_back(at(part.axes[which], i));
      }
    }
  }
  if (!united.axis.is_site()) {
    std::sort(seen.begin(), seen.end());
    std::size_t i = 0;
    for (auto& [coordinates, index] : place) index = i++;
  }
  for (const Coordinates& c : seen) {
    united.axis.coordinates.insert(united.axis.coordinates.end(), c.begin(), c.end());
  }
  for (const Slice& part : parts) {
    std::vector<std::size_t>& places = united.places.emplace_back(part.axes[which].size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = place.at(at(part.axes[which], i));
  }
  return united;
}

}  // namespace

Slice merge(std::span<const Slice> parts) {
  Slice whole = parts.front();
  if (parts.size() == 1) return whole;
  std::vector<United> axes;
  std::size_t cells = 1;
  for (std::size_t a = 0; a < whole.axes.size(); ++a) {
    axes.push_back(unite(parts, a));
    whole.axes[a] = axes.back().axis;
    cells *= whole.axes[a].size();
  }
  whole.latency_ms.assign(cells, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::size_t cell = 0; cell < parts[p].latency_ms.size(); ++cell) {
      std::size_t rest = cell, to = 0, stride = 1;
      for (std::size_t a = axes.size(); a-- > 0;) {
        const std::size_t size = parts[p].axes[a].size();
        to += axes[a].places[p][rest % size] * stride;
        rest /= size;
        stride *= whole.axes[a].size();
      }
      if (std::isnan(whole.latency_ms[to])) whole.latency_ms[to] = parts[p].latency_ms[cell];
    }
  }
  return whole;
}

}  // namespace setpoint::perfdb
