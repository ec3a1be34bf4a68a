// SPDX-License-Identifier: Apache-2.0
// A completed grid of one or two axes, ready to be read: two searches and three straight lines.
#pragma once

#include <vector>

#include "perfdb/grid.h"

namespace setpoint::perfdb {

class Surface {
 public:
  struct Value {
    double ms = 0;
    Mark mark = Mark::unknown;
  };
  // `grid` has no unknown cell. `root`: along the outer axis the root of the time is straight.
  Surface(const Grid& grid, bool root);
  // Below the first and above the last coordinate the outermost piece is continued (never below
  // a hundredth of the nearest cell). `outer` is ignored when there is one axis.
  Value at(double outer, double inner) const;

  const std::vector<double>& outer() const { return outer_; }
  const std::vector<double>& inner() const { return inner_; }
  // Every cell's time through f(outer, inner, ms).
  template <class F>
  void transform(F f) {
    for (std::size_t o = 0; o < outer_.size(); ++o) {
      for (std::size_t i = 0; i < inner_.size(); ++i) {
        double& cell = ms_[o * inner_.size() + i];
        cell = f(outer_[o], inner_[i], cell);
      }
    }
  }

 private:
  Value row(std::size_t outer, std::size_t inner, double weight) const;

  std::vector<double> outer_, inner_;
  std::vector<double> ms_;
  std::vector<Mark> marks_;
  bool root_;
};

}  // namespace setpoint::perfdb
