// SPDX-License-Identifier: Apache-2.0
// Fits one coefficient set of the compact model to measured times: weighted least squares with a
// small pull of neighbouring knots towards each other (so that knots without data continue their
// neighbours), reweighted towards the least absolute deviation, rounded to 8 bits.
// The program that answers never fits.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "perfdb/compact_blob.h"

namespace setpoint::tools {

struct Sample {
  perfdb::compact::Coordinates x{};
  double roofline_ms = 0;  // > 0, finite
  double time_ms = 0;      // > 0
};

struct FitRules {
  std::size_t most_samples = 12000;  // evenly taken from a larger table
  // Additive launch floor: this share of this low quantile of the table's times.
  double floor_share = 0.95, floor_quantile = 0.02;
  double smoothness = 0.02;  // weight of (difference of neighbouring knots)^2 against a sample's
  double ridge = 1e-3;       // weight of coefficient^2
  // Residuals of log time above this count by their size, not by their square.
  double robust_above = 0.05;
  int reweightings = 5;
};

// Whether sample `i` of `samples` is fitted; the others are left to score the fit. Not every n-th:
// that would hit the same step sizes of every curve.
bool is_fitted(std::size_t i, std::size_t samples, const FitRules& rules);

// Fills floor, base, scale and coefficients of `set` (whose family is given) from the samples.
// False when there are none.
bool fit(perfdb::compact::Set& set, std::span<const Sample> samples, const FitRules& rules);

}  // namespace setpoint::tools
