// SPDX-License-Identifier: Apache-2.0
// Evidence of what a run trained, from its first steps, and how far it lies from the baseline's.
// Each Signal is one number; kSignals says what it is, when it fails, and how its limit follows
// from a few legitimate variants. Limits and what each finds were measured on 102 legitimate runs
// and 221 runs with planted faults of a small model (tests/golden/gate_signals.csv); where only a
// log is there, the wider limits of a campaign without calibration hold.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recipe/final_values.h"
#include "recipe/step_log.h"
#include "setpoint/result.h"

namespace setpoint::judge {

// Elements of one tensor that were sampled (the same ones in every run), in canonical order.
struct TensorSample {
  std::vector<double> gradient;  // reduced, before clipping: what the optimizer receives
  std::vector<double> weight, first_moment, second_moment;  // before the step
  std::vector<double> new_weight, new_first_moment, new_second_moment;
  double gradient_norm = 0;  // of the whole tensor
  bool decayed = true;       // weight decay applies to it
};

// What the start-up hook writes of one step, all ranks joined.
struct StepSignals {
  std::int64_t optimizer_step = 1;  // from 1: for the optimizer's bias correction
  std::optional<double> loss, gradient_norm, learning_rate, tokens, dropped, aux_loss, zeros;
  std::string samples, mask;              // digests of sample ids in order, of the loss mask
  std::vector<std::string> random_state;  // of each data-parallel rank
  std::vector<double> sequence_loss, token_loss, expert_load;
  std::map<std::string, TensorSample> tensors;
  // Largest relative difference between ranks that hold the same element.
  double gradient_replicas = 0, weight_replicas = 0;
};
using Signals = std::map<std::int64_t, StepSignals>;  // by step

// JSON lines, one per rank and step (docs/formats/final-values.md has the members).
Result<Signals> read_signals(std::string_view text, const std::string& what);

struct Evidence {
  std::vector<recipe::StepLine> steps;
  Signals signals;
};

enum class Signal : std::uint8_t {
  loss,
  sequence,
  token,
  token_spread,
  correlation,
  norm,
  tensor_norm,
  direction,
  update,
  update_norm,
  later_loss,
  later_norm,
  routing,
  weights,
  gradient_replicas,
  weight_replicas,
  learning_rate,
  tokens,
  samples,
  mask,
  random_state,
  dropped,
  replay,
  replay_moments,
  mantissa,
  weight_mantissa,
  finite,
  gradient,
  count
};
inline constexpr std::size_t kSignalCount = static_cast<std::size_t>(Signal::count);

struct SignalInfo {
  Signal signal;
  std::string_view name, what;
  enum class Limit : std::uint8_t {
    exact,       // above `fail` it fails, calibrated or not
    calibrated,  // 3 x the largest of the variants, at least `floor`; else fail and suspect
    window,      // within `floor` of the range of the variants
    below        // at most `floor` above the largest of the variants
  } limit;
  double fail, suspect, floor;  // 0: none
};
std::span<const SignalInfo> signal_table();

// Constants of the recipe's optimizer, for the replay.
struct AdamW {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0, clip = 0;  // clip 0: none
};
std::optional<AdamW> adamw_of(const recipe::FinalValues& values);

// Absolute for the two mantissa signals, else distances from the reference. Nothing: not supplied
// by both runs.
struct Distances {
  std::array<std::optional<double>, kSignalCount> values{};
  std::map<std::string, double> gradients;  // relative L2 distance by tensor
  std::optional<double>& operator[](Signal s) { return values[static_cast<std::size_t>(s)]; }
  std::optional<double> operator[](Signal s) const { return values[static_cast<std::size_t>(s)]; }
};
Distances distances(const Evidence& reference, const Evidence& run, std::optional<AdamW> optimizer);

enum class Sign : std::uint8_t { missing, ok, suspect, fail };
inline constexpr std::array<std::string_view, 4> kSigns{"missing", "ok", "suspect", "fail"};
struct SignalFinding {
  Signal signal = Signal::loss;
  Sign sign = Sign::missing;
  double value = 0, limit = 0;
  std::string where;  // the tensor
};
struct Calibration {
  std::span<const Distances> variants = {};   // legitimate runs of the same class of change
  std::span<const Distances> baselines = {};  // of the same recipe, from their mean
  bool single = false;                        // FP32 training, whose gradients repeat more closely
};
// One finding per signal.
std::vector<SignalFinding> judge_signals(const Distances& run, const Calibration& by);

}  // namespace setpoint::judge
