// SPDX-License-Identifier: Apache-2.0
#include "profile/intervals.h"

#include <algorithm>

namespace setpoint::profile {

Intervals unite(Intervals parts) {
  std::sort(parts.begin(), parts.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Intervals out;
  for (const Interval& part : parts) {
    if (!(part.end > part.begin)) continue;
    if (!out.empty() && part.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, part.end);
    } else {
      out.push_back(part);
    }
  }
  return out;
}

Intervals unite(const Intervals& a, const Intervals& b) {
  Intervals all = a;
  all.insert(all.end(), b.begin(), b.end());
  return unite(std::move(all));
}

Intervals intersect(const Intervals& a, const Intervals& b) {
  Intervals out;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const Interval both{std::max(a[i].begin, b[k].begin), std::min(a[i].end, b[k].end)};
    if (both.end > both.begin) out.push_back(both);
    if (a[i].end < b[k].end) {
      ++i;
    } else {
      ++k;
    }
  }
  return out;
}

Intervals minus(const Intervals& a, const Intervals& b) {
  Intervals out;
  std::size_t k = 0;
  for (const Interval& whole : a) {
    double from = whole.begin;
    while (k < b.size() && b[k].end <= from) ++k;
    for (std::size_t j = k; j < b.size() && b[j].begin < whole.end; ++j) {
      if (b[j].begin > from) out.push_back({from, b[j].begin});
      from = std::max(from, b[j].end);
    }
    if (whole.end > from) out.push_back({from, whole.end});
  }
  return out;
}

double length(const Intervals& set) {
  double sum = 0;
  for (const Interval& part : set) sum += part.end - part.begin;
  return sum;
}

}  // namespace setpoint::profile
