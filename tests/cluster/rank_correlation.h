// SPDX-License-Identifier: Apache-2.0
// Spearman's rank correlation, ties at their mean rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace setpoint::cluster {

inline std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]]) ++j;
    const double mean = static_cast<double>(i + j - 1) / 2;
    for (std::size_t k = i; k < j; ++k) out[order[k]] = mean;
    i = j;
  }
  return out;
}

inline double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto x = ranks(a);
  const auto y = ranks(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

}  // namespace setpoint::cluster
