// SPDX-License-Identifier: Apache-2.0
// How much of a difference is noise. The baseline runs at least five times on different machines;
// with mean B and sigma = sample deviation / B the band is max(3 %, 3 sigma), and a candidate
// replaces the fastest only where its score is more than that above it (ATTUNE's rule). What ATTUNE
// leaves open is decided here: drift, parked candidates, final repeats, the interval of a gain.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "setpoint/result.h"

namespace setpoint::judge {

inline constexpr int kLeastBaselineRuns = 5;   // ATTUNE
inline constexpr double kLeastBand = 0.03;     // ATTUNE
inline constexpr double kBandSigmas = 3;       // ATTUNE
inline constexpr int kMostBaselineRuns = 8;    // of which ...
inline constexpr int kMostBaselineFailed = 3;  // ... so many may not fail
inline constexpr int kLeastFinalRuns = 3;      // of the fastest, of the best parked, of the winner

// Scores are mean tokens per second per GPU over the scored steps.
struct NoiseBand {
  int n = 0;
  double mean = 0;   // B
  double sd = 0;     // sample standard deviation, divisor n - 1
  double sigma = 0;  // sd / B
  double band = 0;   // max(3 %, 3 sigma)

  double threshold(double fastest) const { return fastest * (1 + band); }
  bool beats(double score, double fastest) const { return score > threshold(fastest); }  // strictly
  // Neither beats the fastest nor is beaten by it: worth a repeat if budget is left over.
  bool parks(double score, double fastest) const;
  // A repeated baseline this far off asks for a new baseline set.
  bool drifted(double baseline_again) const;
};

// Fewer than five runs, or a score that is not above 0: no campaign (code `no`).
Result<NoiseBand> noise_band(std::span<const double> scores);

// Why the baseline has to be given up; nothing: go on.
std::optional<std::string> baseline_hopeless(int valid, int failed);

struct Promotion {
  double mean = 0;  // of the two scores: the recipe's score from then on
  double threshold = 0;
  bool replaced = false;
};
// A first score beat the fastest; the confirming run decides.
Promotion promote(double first, double confirming, double fastest, const NoiseBand& noise);

// The ratio of two means less 1, with its 95 % interval: the ratio's spread by propagation of the
// two means' own, Student's quantile for Welch's degrees of freedom.
struct Gain {
  double gain = 0, low = 0, high = 0;  // 0.08 is 8 % faster
};
// At least two runs each; the headline needs kLeastFinalRuns of the winner's.
Result<Gain> gain_of(std::span<const double> winner, std::span<const double> baseline);

// After the search, by means of at least three runs each: is the parked one the faster?
Result<bool> parked_wins(std::span<const double> fastest, std::span<const double> parked);

}  // namespace setpoint::judge
