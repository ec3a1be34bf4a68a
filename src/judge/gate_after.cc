// SPDX-License-Identifier: Apache-2.0
// Step 2: the first steps of a run against those of the baseline.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "setpoint/gate.h"

namespace setpoint::judge {
namespace {

// Losses and norms of each step, averaged over the baselines; signals of the first one that has
// any.
Evidence reference_of(std::span<const Evidence> baselines) {
  Evidence out = baselines.front();
  for (const Evidence& run : baselines) {
    if (out.signals.empty()) out.signals = run.signals;
  }
  for (recipe::StepLine& line : out.steps) {
    double loss = 0, norm = 0, losses = 0, norms = 0;
    for (const Evidence& run : baselines) {
      const auto same = std::find_if(run.steps.begin(), run.steps.end(),
                                     [&](const auto& other) { return other.step == line.step; });
      if (same == run.steps.end()) continue;
      loss += same->loss;
      ++losses;
      if (!same->grad_norm) continue;
      norm += *same->grad_norm;
      ++norms;
    }
    line.loss = loss / losses;
    if (norms > 0) line.grad_norm = norm / norms;
  }
  return out;
}

// Share of steps whose loss lies outside the baselines' range, widened.
double share_outside(std::span<const Evidence> baselines, const Evidence& run) {
  constexpr double kWidened = 0.005;
  std::map<std::int64_t, std::pair<double, double>> range;
  for (const Evidence& baseline : baselines) {
    for (const recipe::StepLine& line : baseline.steps) {
      auto& [least, most] = range.try_emplace(line.step, line.loss, line.loss).first->second;
      least = std::min(least, line.loss);
      most = std::max(most, line.loss);
    }
  }
  double outside = 0;
  for (const recipe::StepLine& line : run.steps) {
    const auto it = range.find(line.step);
    if (it == range.end()) continue;
    const auto [least, most] = it->second;
    const double margin = kWidened * std::max(least, most);
    if (!(line.loss >= least - margin && line.loss <= most + margin)) ++outside;
  }
  return run.steps.empty() ? 0 : outside / static_cast<double>(run.steps.size());
}

// Whatever the limits are calibrated to: ATTUNE's rule on the first loss.
constexpr double kFirstLoss = 0.05;
constexpr double kMostOutside = 0.2;
constexpr std::size_t kEnvelopeRuns = 5;

void raise(AfterReport& report, Signal signal, Sign sign, double value, double limit) {
  for (SignalFinding& found : report.signals) {
    if (found.signal == signal && found.sign < sign) found = {signal, sign, value, limit, ""};
  }
}

void summarise(AfterReport& report, const Distances& run) {
  const SignalFinding* worst = &report.signals.front();
  std::size_t missing = 0;
  for (const SignalFinding& found : report.signals) {
    if (found.sign > worst->sign) worst = &found;
    if (found.sign == Sign::missing) ++missing;
  }
  report.sign = worst->sign;
  const SignalInfo& info = signal_table()[static_cast<std::size_t>(worst->signal)];
  const std::size_t seen = report.signals.size() - missing;
  if (!run[Signal::loss] || !run[Signal::finite]) {
    report.sign = Sign::fail;
    report.summary = "no loss of the baseline's first step: nothing can be judged";
  } else if (report.sign == Sign::ok) {
    report.summary =
        fmt::format("{} of {} signals agree with the baseline", seen, report.signals.size());
  } else {
    report.summary = fmt::format("{} {:.3g}, limit {:.3g}{}{}", info.what, worst->value,
                                 worst->limit, worst->where.empty() ? "" : " in ", worst->where);
  }
}

}  // namespace

AfterReport gate_after(std::span<const Evidence> baselines, std::span<const Evidence> variants,
                       const Evidence& candidate, const recipe::FinalValues& original) {
  AfterReport report;
  if (baselines.empty() || baselines.front().steps.empty() || candidate.steps.empty()) {
    report.sign = Sign::fail;
    report.summary = "no steps of a baseline or of the candidate: nothing can be judged";
    return report;
  }
  const Evidence reference = reference_of(baselines);
  const auto adam = adamw_of(original);
  const auto all = [&](std::span<const Evidence> runs) {
    std::vector<Distances> out;
    for (const Evidence& run : runs) out.push_back(distances(reference, run, adam));
    return out;
  };
  const std::vector<Distances> spread = all(baselines), legitimate = all(variants);
  const auto bf16 = original.parameters.find("bf16");
  const bool single = bf16 != original.parameters.end() && bf16->second == false;
  const Distances run = distances(reference, candidate, adam);
  report.signals = judge_signals(run, {legitimate, spread, single});
  const double loss = run[Signal::loss].value_or(0);
  if (!(loss <= kFirstLoss)) raise(report, Signal::loss, Sign::fail, loss, kFirstLoss);
  if (baselines.size() >= kEnvelopeRuns) {
    const double outside = share_outside(baselines, candidate);
    const Sign sign = outside > kMostOutside ? Sign::fail : outside > 0 ? Sign::suspect : Sign::ok;
    raise(report, Signal::later_loss, sign, outside, kMostOutside);
  }
  if (!adam) report.notes.emplace_back("optimizer constants not stated: no replay of its step");
  if (reference.signals.empty() || candidate.signals.empty()) {
    report.notes.emplace_back("a log alone: errors in gradients and updates stay unseen");
  }
  summarise(report, run);
  return report;
}

}  // namespace setpoint::judge
