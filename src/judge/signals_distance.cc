// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "judge/signals.h"

namespace setpoint::judge {
namespace {

using Values = std::vector<double>;

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double norm(const Values& a) { return std::sqrt(dot(a, a)); }

Values minus(const Values& a, const Values& b) {
  Values out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] - b[i];
  return out;
}

// 0 where both are nothing; infinite where one alone is.
double relative(double value, double reference) {
  if (value == reference) return 0;
  return std::fabs(value - reference) / std::fabs(reference);
}

double relative(const Values& value, const Values& reference) {
  const double distance = norm(minus(value, reference));
  return distance == 0 ? 0 : distance / norm(reference);
}

double one_minus_cosine(const Values& a, const Values& b) {
  const double lengths = norm(a) * norm(b);
  return lengths > 0 ? 1 - dot(a, b) / lengths : relative(a, b);
}

double mean(const Values& a) {
  double sum = 0;
  for (const double value : a) sum += value;
  return sum / static_cast<double>(a.size());
}

Values centred(Values a) {
  const double middle = mean(a);
  for (double& value : a) value -= middle;
  return a;
}

// Keeps the largest; NaN counts as larger than anything.
void raise(std::optional<double>& to, double value) {
  if (!to || !(value <= *to)) to = value;
}

bool comparable(const Values& a, const Values& b) { return !a.empty() && a.size() == b.size(); }

// Mean trailing zero bits of float32 mantissas: a number that came from few BF16 additions ends in
// many. Zeros tell nothing.
struct Mantissas {
  double bits = 0, count = 0;
  void add(const Values& values) {
    constexpr int kMantissaBits = 23;
    for (const double value : values) {
      const auto word = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      if (value == 0) continue;
      bits += std::min(std::countr_zero(word), kMantissaBits);
      ++count;
    }
  }
};

void losses(const StepSignals& a, const StepSignals& b, Distances& out) {
  if (comparable(a.sequence_loss, b.sequence_loss)) {
    for (std::size_t i = 0; i < a.sequence_loss.size(); ++i) {
      raise(out[Signal::sequence], relative(b.sequence_loss[i], a.sequence_loss[i]));
    }
  }
  if (!comparable(a.token_loss, b.token_loss)) return;
  const double count = static_cast<double>(a.token_loss.size());
  const double rms = norm(minus(b.token_loss, a.token_loss)) / std::sqrt(count);
  const Values spread = centred(a.token_loss);
  const double deviation = norm(spread) / std::sqrt(count);
  out[Signal::token] = rms / std::fabs(mean(a.token_loss));
  out[Signal::token_spread] = rms == 0 ? 0 : rms / deviation;
  out[Signal::correlation] = one_minus_cosine(spread, centred(b.token_loss));
}

void tensors(const StepSignals& a, const StepSignals& b, Distances& out) {
  for (const auto& [name, reference] : a.tensors) {
    const auto it = b.tensors.find(name);
    const bool there = it != b.tensors.end();
    if (!there || !comparable(reference.gradient, it->second.gradient)) {
      out.gradients[name] = INFINITY;  // a tensor without a gradient is the finding itself
      continue;
    }
    const TensorSample& run = it->second;
    out.gradients[name] = relative(run.gradient, reference.gradient);
    raise(out[Signal::direction], one_minus_cosine(run.gradient, reference.gradient));
    raise(out[Signal::tensor_norm],
          run.gradient_norm == reference.gradient_norm
              ? 0
              : std::fabs(std::log(run.gradient_norm / reference.gradient_norm)));
    if (comparable(reference.weight, run.weight)) {
      raise(out[Signal::weights], relative(run.weight, reference.weight));
    }
    if (comparable(reference.new_weight, run.new_weight) &&
        comparable(reference.weight, run.weight) &&
        reference.weight.size() == reference.new_weight.size()) {
      const Values change = minus(run.new_weight, run.weight);
      const Values expected = minus(reference.new_weight, reference.weight);
      raise(out[Signal::update], one_minus_cosine(change, expected));
      raise(out[Signal::update_norm], relative(norm(change), norm(expected)));
    }
  }
}

// AdamW in double precision with the recipe's constants, the reference's rate and the run's own
// gradient; the distance of what the run's optimizer made of it, in units of the update.
void replay(const StepSignals& reference, const StepSignals& run, const AdamW& adam,
            Distances& out) {
  if (!run.gradient_norm || !reference.learning_rate) return;
  constexpr double kClipEpsilon = 1e-6;  // megatron/core/optimizer/clip_grads.py, torch alike
  const double clip =
      adam.clip > 0 ? std::min(1.0, adam.clip / (*run.gradient_norm + kClipEpsilon)) : 1.0;
  const auto t = static_cast<double>(run.optimizer_step);
  const double scale1 = 1 - std::pow(adam.beta1, t), scale2 = 1 - std::pow(adam.beta2, t);
  for (const auto& [name, tensor] : run.tensors) {
    const std::size_t count = tensor.gradient.size();
    const auto same = [&](const Values& values) { return values.size() == count; };
    if (count == 0 || !same(tensor.weight) || !same(tensor.new_weight) ||
        !same(tensor.first_moment) || !same(tensor.second_moment)) {
      continue;
    }
    const auto known = reference.tensors.find(name);
    const double decay =
        known != reference.tensors.end() && known->second.decayed ? adam.weight_decay : 0;
    Values first(count), second(count), update(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double gradient = tensor.gradient[i] * clip;
      first[i] = adam.beta1 * tensor.first_moment[i] + (1 - adam.beta1) * gradient;
      second[i] = adam.beta2 * tensor.second_moment[i] + (1 - adam.beta2) * gradient * gradient;
      update[i] = -*reference.learning_rate *
                  (first[i] / scale1 / (std::sqrt(second[i] / scale2) + adam.eps) +
                   decay * tensor.weight[i]);
    }
    raise(out[Signal::replay], relative(minus(tensor.new_weight, tensor.weight), update));
    if (same(tensor.new_first_moment) && same(tensor.new_second_moment)) {
      raise(out[Signal::replay_moments], relative(tensor.new_first_moment, first));
      raise(out[Signal::replay_moments], relative(tensor.new_second_moment, second));
    }
  }
}

void exact(const StepSignals& a, const StepSignals& b, Distances& out) {
  const auto both = [](const auto& x, const auto& y) { return x && y; };
  if (both(a.learning_rate, b.learning_rate))
    raise(out[Signal::learning_rate], relative(*b.learning_rate, *a.learning_rate));
  if (both(a.tokens, b.tokens)) raise(out[Signal::tokens], relative(*b.tokens, *a.tokens));
  if (b.dropped) raise(out[Signal::dropped], *b.dropped);
  if (!a.samples.empty() && !b.samples.empty())
    raise(out[Signal::samples], a.samples == b.samples ? 0 : 1);
  if (!a.mask.empty() && !b.mask.empty()) raise(out[Signal::mask], a.mask == b.mask ? 0 : 1);
  if (!b.random_state.empty()) {
    const std::set<std::string> distinct(b.random_state.begin(), b.random_state.end());
    raise(out[Signal::random_state], distinct.size() == b.random_state.size() ? 0 : 1);
  }
  if (!b.tensors.empty()) {
    raise(out[Signal::gradient_replicas], b.gradient_replicas);
    raise(out[Signal::weight_replicas], b.weight_replicas);
  }
}

void routing(const StepSignals& a, const StepSignals& b, Distances& out) {
  if (!comparable(a.expert_load, b.expert_load)) return;
  double moved = 0, all = 0;
  for (std::size_t i = 0; i < a.expert_load.size(); ++i) {
    moved += std::fabs(a.expert_load[i] - b.expert_load[i]) / 2;
    all += a.expert_load[i];
  }
  out[Signal::routing] = moved == 0 ? 0 : moved / all;
}

void finite(const std::vector<recipe::StepLine>& steps, Distances& out) {
  double invalid = 0;
  for (const recipe::StepLine& line : steps) {
    if (!std::isfinite(line.loss) || !std::isfinite(line.grad_norm.value_or(0))) ++invalid;
    invalid += static_cast<double>(line.invalid);
  }
  if (!steps.empty()) out[Signal::finite] = invalid;
}

void logs(const Evidence& a, const Evidence& b, Distances& out) {
  std::map<std::int64_t, const recipe::StepLine*> reference;
  for (const recipe::StepLine& line : a.steps) reference[line.step] = &line;
  for (const recipe::StepLine& line : b.steps) {
    const auto it = reference.find(line.step);
    if (it == reference.end()) continue;
    const bool first = line.step == a.steps.front().step;
    raise(out[first ? Signal::loss : Signal::later_loss], relative(line.loss, it->second->loss));
    if (line.grad_norm && it->second->grad_norm) {
      raise(out[first ? Signal::norm : Signal::later_norm],
            relative(*line.grad_norm, *it->second->grad_norm));
    }
  }
}

}  // namespace

Distances distances(const Evidence& reference, const Evidence& run,
                    std::optional<AdamW> optimizer) {
  Distances out;
  finite(run.steps, out);
  logs(reference, run, out);
  Mantissas gradients, weights;
  for (const auto& [step, a] : reference.signals) {
    const auto it = run.signals.find(step);
    if (it == run.signals.end()) continue;
    exact(a, it->second, out);
    if (optimizer) replay(a, it->second, *optimizer, out);
    if (step != reference.signals.begin()->first) continue;
    losses(a, it->second, out);
    tensors(a, it->second, out);
    routing(a, it->second, out);
    for (const auto& [name, tensor] : it->second.tensors) {
      gradients.add(tensor.gradient);
      weights.add(tensor.new_weight);
    }
  }
  if (gradients.count > 0) out[Signal::mantissa] = gradients.bits / gradients.count;
  if (weights.count > 0) out[Signal::weight_mantissa] = weights.bits / weights.count;
  return out;
}

}  // namespace setpoint::judge
