// SPDX-License-Identifier: Apache-2.0
#include "search/front.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace {

using setpoint::search::FrontPoint;
using setpoint::search::pareto_front;

bool beats(const FrontPoint& a, const FrontPoint& b) {
  return a.user_speed >= b.user_speed && a.throughput >= b.throughput &&
         (a.user_speed > b.user_speed || a.throughput > b.throughput);
}

TEST(Front, IsExactlyThePointsNoOtherBeats) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> value(0, 40);  // few values: many ties
  std::vector<FrontPoint> points;
  for (int i = 0; i < 500; ++i) {
    points.push_back({double(value(random)), double(value(random)), value(random)});
  }
  const auto front = pareto_front(points);
  std::vector<bool> on_front(points.size(), false);
  for (std::size_t i : front) on_front[i] = true;
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool beaten = false, twin_on_front = false;
    for (std::size_t j = 0; j < points.size(); ++j) {
      beaten = beaten || beats(points[j], points[i]);
      twin_on_front =
          twin_on_front || (on_front[j] && points[j].user_speed == points[i].user_speed &&
                            points[j].throughput == points[i].throughput);
    }
    EXPECT_EQ(beaten, !twin_on_front) << i;
  }
  for (std::size_t k = 1; k < front.size(); ++k) {
    EXPECT_GT(points[front[k]].user_speed, points[front[k - 1]].user_speed);
    EXPECT_LT(points[front[k]].throughput, points[front[k - 1]].throughput);
  }
}

TEST(Front, TiesGoToFewerGpusThenToTheEarlierPoint) {
  const std::vector<FrontPoint> points{{10, 5, 8}, {10, 5, 4}, {10, 5, 4}};
  EXPECT_EQ(pareto_front(points), (std::vector<std::size_t>{1}));
}

TEST(Front, NumbersThatAreNotFiniteNeverEnter) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<FrontPoint> points{{nan, 9, 1}, {9, nan, 1}, {infinite, 1, 1}, {2, 2, 1}};
  EXPECT_EQ(pareto_front(points), (std::vector<std::size_t>{3}));
  EXPECT_TRUE(pareto_front({}).empty());
}

}  // namespace
