// SPDX-License-Identifier: Apache-2.0
#include "fit.h"

#include <Eigen/Dense>
#include <cmath>

namespace setpoint::tools {
namespace {

using namespace perfdb::compact;  // NOLINT(google-build-using-namespace): its form and sets

struct Hat {
  std::size_t index;
  double weight;
};
struct Row {
  std::vector<Hat> hats;
  double target = 0;  // without the base
};

double quantile(std::vector<double> values, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

double log_efficiency(const Sample& s, double floor_ms) {
  return std::log((floor_ms + s.roofline_ms) / s.time_ms);
}

double floor_of(std::span<const Sample> samples, const FitRules& rules) {
  std::vector<double> times;
  for (const Sample& s : samples) times.push_back(s.time_ms);
  return rules.floor_share * quantile(std::move(times), rules.floor_quantile);
}

// Differences of neighbouring knots along every axis, and the ridge.
Eigen::MatrixXd penalty(const Form& form, const FitRules& rules) {
  const auto size = static_cast<Eigen::Index>(form.size());
  Eigen::MatrixXd p = Eigen::MatrixXd::Identity(size, size) * rules.ridge;
  Eigen::Index base = 0;
  for (const Term& term : form.terms) {
    const auto count = static_cast<Eigen::Index>(term.size());
    Eigen::Index stride = count;
    for (const Axis& axis : term.used()) {
      stride /= axis.knots;
      for (Eigen::Index i = 0; i < count; ++i) {
        if (i / stride % axis.knots + 1 == axis.knots) continue;
        const Eigen::Index a = base + i, b = a + stride;
        p(a, a) += rules.smoothness;
        p(b, b) += rules.smoothness;
        p(a, b) -= rules.smoothness;
        p(b, a) -= rules.smoothness;
      }
    }
    base += count;
  }
  return p;
}

std::vector<Row> rows_of(const Form& form, const Set& set, std::span<const Sample> samples,
                         const FitRules& rules) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!is_fitted(i, samples.size(), rules)) continue;
    Row row;
    row.target = log_efficiency(samples[i], set.floor_ms) - set.base;
    for_each_hat(form.terms, samples[i].x, [&](std::size_t index, double weight) {
      row.hats.push_back({index, weight});
    });
    rows.push_back(std::move(row));
  }
  return rows;
}

Eigen::VectorXd solve(const std::vector<Row>& rows, const std::vector<double>& weights,
                      Eigen::MatrixXd normal) {
  Eigen::VectorXd right = Eigen::VectorXd::Zero(normal.rows());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const Hat& a : rows[r].hats) {
      const double wa = weights[r] * a.weight;
      const auto i = static_cast<Eigen::Index>(a.index);
      right[i] += wa * rows[r].target;
      for (const Hat& b : rows[r].hats) {
        if (b.index <= a.index) normal(i, static_cast<Eigen::Index>(b.index)) += wa * b.weight;
      }
    }
  }
  return normal.selfadjointView<Eigen::Lower>().ldlt().solve(right);
}

void reweight(const std::vector<Row>& rows, const Eigen::VectorXd& c, double robust_above,
              std::vector<double>& weights) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    double at = -rows[r].target;
    for (const Hat& h : rows[r].hats) at += h.weight * c[static_cast<Eigen::Index>(h.index)];
    weights[r] = robust_above / std::max(std::abs(at), robust_above);
  }
}

}  // namespace

bool is_fitted(std::size_t i, std::size_t samples, const FitRules& rules) {
  if (samples <= rules.most_samples) return true;
  return i * rules.most_samples / samples != (i + 1) * rules.most_samples / samples;
}

bool fit(Set& set, std::span<const Sample> samples, const FitRules& rules) {
  if (samples.empty()) return false;
  const Form& form = forms()[set.family];
  set.floor_ms = floor_of(samples, rules);
  round_to_file(set);
  std::vector<double> efficiencies;
  for (const Sample& s : samples) efficiencies.push_back(log_efficiency(s, set.floor_ms));
  set.base = quantile(std::move(efficiencies), 0.5);
  round_to_file(set);

  const std::vector<Row> rows = rows_of(form, set, samples, rules);
  const Eigen::MatrixXd start = penalty(form, rules);
  std::vector<double> weights(rows.size(), 1.0);
  Eigen::VectorXd c;
  for (int i = 0; i < rules.reweightings; ++i) {
    c = solve(rows, weights, start);
    reweight(rows, c, rules.robust_above, weights);
  }

  constexpr double kMost = 127;
  set.scale = c.cwiseAbs().maxCoeff() / kMost * 1.001;  // room for the rounding of the scale itself
  round_to_file(set);
  set.coefficients.clear();
  for (const double v : c) {
    set.coefficients.push_back(
        static_cast<std::int8_t>(std::clamp(std::round(v / set.scale), -kMost, kMost)));
  }
  return true;
}

}  // namespace setpoint::tools
