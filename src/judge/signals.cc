// SPDX-License-Identifier: Apache-2.0
#include "judge/signals.h"

#include <algorithm>
#include <cmath>

namespace setpoint::judge {
namespace {

using Limit = SignalInfo::Limit;

// Fail and suspect: measured on 967 pairs of public Megatron-LM reference runs and a toy network
// with planted errors; 5 % is ATTUNE's. Floors and exact limits: the measurement in signals.h.
constexpr std::array<SignalInfo, kSignalCount> kSignals{{
    {Signal::loss, "loss", "mean loss of step 1", Limit::calibrated, 0.05, 0.005, 1e-5},
    {Signal::sequence, "sequence", "a sequence's loss, step 1", Limit::calibrated, 0, 0, 1e-4},
    {Signal::token, "token", "loss per token, step 1", Limit::calibrated, 0, 0, 1e-3},
    {Signal::token_spread, "token_spread", "loss per token in units of its spread",
     Limit::calibrated, 0.2, 0.06, 0.06},
    {Signal::correlation, "correlation", "1 - correlation of losses per token", Limit::calibrated,
     0.02, 0.005, 0.005},
    {Signal::norm, "norm", "gradient norm, step 1", Limit::calibrated, 0.10, 0.02, 1e-4},
    {Signal::tensor_norm, "tensor_norm", "log ratio of a tensor's gradient norm", Limit::calibrated,
     0.223, 0.0488, 2e-3},
    {Signal::direction, "direction", "1 - cosine of a tensor's gradient", Limit::calibrated, 0.2,
     0.05, 0.05},
    {Signal::update, "update", "1 - cosine of a tensor's update", Limit::calibrated, 0.2, 0.05,
     0.05},
    {Signal::update_norm, "update_norm", "norm of a tensor's update", Limit::calibrated, 0.10, 0,
     0.10},
    {Signal::later_loss, "later_loss", "mean loss of later steps", Limit::calibrated, 0.03, 0.005,
     5e-4},
    {Signal::later_norm, "later_norm", "gradient norm of later steps", Limit::calibrated, 0, 0,
     5e-3},
    {Signal::routing, "routing", "tokens routed to other experts", Limit::calibrated, 0, 0, 2e-3},
    {Signal::weights, "weights", "loaded weights", Limit::exact, 1e-6, 0, 0},
    {Signal::gradient_replicas, "gradient_replicas", "copies of a reduced gradient", Limit::exact,
     1e-6, 0, 0},
    {Signal::weight_replicas, "weight_replicas", "copies of new weights", Limit::exact, 1e-6, 0, 0},
    {Signal::learning_rate, "learning_rate", "applied learning rate", Limit::exact, 1e-6, 0, 0},
    {Signal::tokens, "tokens", "counted tokens", Limit::exact, 0, 0, 0},
    {Signal::samples, "samples", "samples read", Limit::exact, 0, 0, 0},
    {Signal::mask, "mask", "loss mask", Limit::exact, 0, 0, 0},
    {Signal::random_state, "random_state", "random states shared by data-parallel ranks",
     Limit::exact, 0, 0, 0},
    {Signal::dropped, "dropped", "tokens dropped", Limit::exact, 0, 0, 0},
    {Signal::replay, "replay", "new weights against a replay of the optimizer", Limit::exact, 1e-3,
     0, 0},
    {Signal::replay_moments, "replay_moments", "moments against that replay", Limit::exact, 1e-5, 0,
     0},
    {Signal::mantissa, "mantissa", "trailing zero bits of gradients", Limit::window, 0, 0, 2.5},
    {Signal::weight_mantissa, "weight_mantissa", "trailing zero bits of new weights", Limit::below,
     0, 0, 2},
    {Signal::finite, "finite", "infinite or NaN losses, norms and steps", Limit::exact, 0, 0, 0},
    {Signal::gradient, "gradient", "a tensor's gradient, relative L2", Limit::calibrated, 0, 0,
     5e-3},
}};

constexpr double kFactor = 3;          // times the largest legitimate distance
constexpr double kSingleFloor = 1e-4;  // of `gradient` where training is in FP32

std::vector<double> of_variants(Signal signal, std::span<const Distances> variants) {
  std::vector<double> out;
  for (const Distances& variant : variants) {
    if (const auto value = variant[signal]) out.push_back(*value);
  }
  return out;
}

Sign sign_of(double value, double fail, double suspect) {
  if (!(value <= fail)) return Sign::fail;  // also NaN
  return suspect > 0 && value > suspect ? Sign::suspect : Sign::ok;
}

// What the same recipe does to this signal from run to run: the root mean square.
double spread(const std::vector<double>& baselines) {
  double sum = 0;
  for (const double value : baselines) sum += value * value;
  return baselines.empty() ? 0 : std::sqrt(sum / static_cast<double>(baselines.size()));
}

// Without variants: the table, its suspect limit widened to what the baselines themselves do.
SignalFinding by_table(const SignalInfo& info, double value, const std::vector<double>& baselines) {
  constexpr double kSpreads = 6;
  if (info.fail == 0) return {info.signal, Sign::missing, value, 0, ""};
  const double suspect =
      info.suspect > 0 ? std::max(info.suspect, kSpreads * spread(baselines)) : 0;
  const Sign sign = sign_of(value, info.fail, suspect);
  return {info.signal, sign, value, sign == Sign::suspect ? suspect : info.fail, ""};
}

SignalFinding judged(const SignalInfo& info, double value, const Calibration& by) {
  if (info.limit == Limit::exact)
    return {info.signal, sign_of(value, info.fail, 0), value, info.fail, ""};
  std::vector<double> variants = of_variants(info.signal, by.variants);
  const std::vector<double> baselines = of_variants(info.signal, by.baselines);
  if (info.limit != Limit::calibrated)
    variants.insert(variants.end(), baselines.begin(), baselines.end());
  if (variants.empty()) return by_table(info, value, baselines);
  const auto [least, most] = std::minmax_element(variants.begin(), variants.end());
  SignalFinding out{info.signal, Sign::ok, value, *most + info.floor, ""};
  if (info.limit == Limit::calibrated) out.limit = std::max(kFactor * *most, info.floor);
  if (info.limit == Limit::window && value < *least - info.floor) {
    out.limit = *least - info.floor;
    out.sign = Sign::fail;
    return out;
  }
  out.sign = sign_of(value, out.limit, 0);
  return out;
}

// Each tensor against its own limit; the one nearest to or farthest above it is reported.
SignalFinding judged_gradients(const Distances& run, std::span<const Distances> variants,
                               double floor) {
  SignalFinding out{Signal::gradient, Sign::missing, 0, floor, ""};
  if (variants.empty()) return out;
  for (const auto& [tensor, value] : run.gradients) {
    double most = 0;
    for (const Distances& variant : variants) {
      const auto it = variant.gradients.find(tensor);
      if (it != variant.gradients.end()) most = std::max(most, it->second);
    }
    const double limit = std::max(kFactor * most, floor);
    if (out.sign != Sign::missing && !(value / limit > out.value / out.limit)) continue;
    out = {Signal::gradient, sign_of(value, limit, 0), value, limit, tensor};
  }
  return out;
}

}  // namespace

std::span<const SignalInfo> signal_table() { return kSignals; }

std::vector<SignalFinding> judge_signals(const Distances& run, const Calibration& by) {
  std::vector<SignalFinding> out;
  for (const SignalInfo& info : kSignals) {
    if (info.signal == Signal::gradient) {
      out.push_back(judged_gradients(run, by.variants, by.single ? kSingleFloor : info.floor));
    } else if (const auto value = run[info.signal]) {
      out.push_back(judged(info, *value, by));
    } else {
      out.push_back({info.signal, Sign::missing, 0, 0, ""});
    }
  }
  return out;
}

}  // namespace setpoint::judge
