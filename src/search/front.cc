// SPDX-License-Identifier: Apache-2.0
#include "search/front.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace setpoint::search {

std::vector<std::size_t> pareto_front(std::span<const FrontPoint> points) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::isfinite(points[i].user_speed) && std::isfinite(points[i].throughput)) {
      order.push_back(i);
    }
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const FrontPoint &p = points[a], &q = points[b];
    if (p.user_speed != q.user_speed) return p.user_speed > q.user_speed;
    if (p.throughput != q.throughput) return p.throughput > q.throughput;
    if (p.gpus != q.gpus) return p.gpus < q.gpus;
    return a < b;
  });
  std::vector<std::size_t> front;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i : order) {
    if (points[i].throughput <= best) continue;
    best = points[i].throughput;
    front.push_back(i);
  }
  std::reverse(front.begin(), front.end());
  return front;
}

}  // namespace setpoint::search
