// SPDX-License-Identifier: Apache-2.0
#include "setpoint/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace setpoint::judge {
namespace {

struct Moments {
  double n = 0, mean = 0, sd = 0;
  double mean_variance() const { return sd * sd / n; }
};

Moments moments(std::span<const double> values) {
  Moments m;
  m.n = static_cast<double>(values.size());
  m.mean = std::accumulate(values.begin(), values.end(), 0.0) / m.n;
  double squares = 0;
  for (const double value : values) squares += (value - m.mean) * (value - m.mean);
  m.sd = values.size() > 1 ? std::sqrt(squares / (m.n - 1)) : 0;
  return m;
}

bool all_positive(std::span<const double> scores) {
  return std::all_of(scores.begin(), scores.end(),
                     [](double score) { return std::isfinite(score) && score > 0; });
}

Error no(std::string text) { return {ErrorCode::no, std::move(text)}; }

// Student's t, 97.5 %, for 1 to 30 degrees of freedom (any table of it); beyond, those of 30.
constexpr std::array kStudent{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                              2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                              2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                              2.060,  2.056, 2.052, 2.048, 2.045, 2.042};

double student(double freedom) {
  const double whole = std::clamp(std::floor(freedom), 1.0, double(kStudent.size()));
  return kStudent[static_cast<std::size_t>(whole) - 1];
}

}  // namespace

bool NoiseBand::parks(double score, double fastest) const {
  return !beats(score, fastest) && !beats(fastest, score);
}

bool NoiseBand::drifted(double baseline_again) const {
  return std::fabs(baseline_again - mean) > kBandSigmas * sd;
}

Result<NoiseBand> noise_band(std::span<const double> scores) {
  if (scores.size() < std::size_t(kLeastBaselineRuns)) {
    return no(fmt::format("a noise band needs {} valid baseline runs, there are {}",
                          kLeastBaselineRuns, scores.size()));
  }
  if (!all_positive(scores)) return no("a baseline score is not above 0");
  const Moments m = moments(scores);
  NoiseBand noise{static_cast<int>(scores.size()), m.mean, m.sd, m.sd / m.mean, 0};
  noise.band = std::max(kLeastBand, kBandSigmas * noise.sigma);
  return noise;
}

std::optional<std::string> baseline_hopeless(int valid, int failed) {
  if (failed >= kMostBaselineFailed) {
    return fmt::format("{} baseline runs failed, {} were valid: the recipe does not run reliably",
                       failed, valid);
  }
  if (valid + failed >= kMostBaselineRuns && valid < kLeastBaselineRuns) {
    return fmt::format("{} baseline runs gave only {} valid ones", valid + failed, valid);
  }
  return std::nullopt;
}

Promotion promote(double first, double confirming, double fastest, const NoiseBand& noise) {
  const double mean = (first + confirming) / 2;
  return {mean, noise.threshold(fastest), noise.beats(mean, fastest)};
}

Result<Gain> gain_of(std::span<const double> winner, std::span<const double> baseline) {
  if (winner.size() < 2 || baseline.size() < 2) return no("a gain needs two runs of either side");
  if (!all_positive(winner) || !all_positive(baseline)) return no("a score is not above 0");
  const Moments w = moments(winner), b = moments(baseline);
  const double ratio = w.mean / b.mean;
  const double from_winner = w.mean_variance() / (w.mean * w.mean);
  const double from_baseline = b.mean_variance() / (b.mean * b.mean);
  const double variance = from_winner + from_baseline;
  if (variance == 0) return Gain{ratio - 1, ratio - 1, ratio - 1};
  const double freedom =
      variance * variance /
      (from_winner * from_winner / (w.n - 1) + from_baseline * from_baseline / (b.n - 1));
  const double half = student(freedom) * ratio * std::sqrt(variance);
  return Gain{ratio - 1, ratio - 1 - half, ratio - 1 + half};
}

Result<bool> parked_wins(std::span<const double> fastest, std::span<const double> parked) {
  if (std::min(fastest.size(), parked.size()) < std::size_t(kLeastFinalRuns)) {
    return no(fmt::format("the final choice needs {} runs of either recipe", kLeastFinalRuns));
  }
  return moments(parked).mean > moments(fastest).mean;
}

}  // namespace setpoint::judge
