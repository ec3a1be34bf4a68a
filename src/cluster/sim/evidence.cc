// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/sha256.h"
#include "cluster/sim/params.h"
#include "cluster/sim/random.h"

namespace setpoint::cluster {
namespace {

constexpr std::size_t kSampled = 64;  // elements of a tensor
constexpr std::size_t kTokens = 128, kSequences = 8;
constexpr double kTokenSpread = 0.55;  // deviation of a token's loss, of the mean
// Largest legitimate differences between layouts of one recipe, measured on a small model in BF16
// (18 runs each): mean loss 1.8e-4, token loss 3.9e-3, gradient norm 1.7e-3, a tensor's gradient
// 2.1e-2 (with experts 1.1e-1), later losses 3e-4. A run's draw is a third of it.
constexpr double kLossNoise = 6e-5, kTokenNoise = 1.3e-3, kLaterNoise = 1e-4;
constexpr double kGradientNoise = 7e-3, kExpertGradientNoise = 2.5e-2;
// Batches differ: deviation of a step's mean loss around its trend.
constexpr double kBatchNoise = 4e-3;
constexpr double kTrainedLoss = 2.0;                 // guess: nats of a pre-trained language model
constexpr double kFinalLoss = 6.5, kFallSteps = 60;  // guess: how a random start falls
// Bits of a float32 mantissa that gradients keep: few BF16 additions leave seven to eleven trailing
// zeros (measured).
constexpr int kMantissa = 23, kKept = 14;
// What is trained: these change the samples, the weights or the loss. All else only changes how.
constexpr std::array kContent{"seed",        "seq_length",      "global_batch_size",
                              "data_path",   "blend",           "pretrained_checkpoint",
                              "load",        "tokenizer_model", "num_layers",
                              "hidden_size", "num_moe_experts", "moe_router_topk",
                              "split"};

double kept(double value, int bits) {
  const auto word = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const int dropped = std::clamp(kMantissa - bits, 0, kMantissa);
  return std::bit_cast<float>((word >> dropped) << dropped);
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

Training::Training(const SimSpec& spec, const recipe::FinalValues& values, std::string lease)
    : spec_(spec), values_(values), lease_(std::move(lease)) {
  const Params params(values_);
  for (const char* name : kContent) {
    const base::Json* value = params.find(name);
    content_ += value == nullptr ? "-" : base::json_text(*value);
    content_ += '/';
  }
  trained_ = params.find("pretrained_checkpoint") != nullptr || params.find("load") != nullptr;
  vocab_ = std::max(2.0, params.number("vocab_size", 50000));
  experts_ = params.number("num_moe_experts", 0);
  moe_ = experts_ > 0;
  for (const Fault& fault : spec_.faults) {
    if (fault.acts_on(values_)) effects_.push_back(fault.effect);
  }
}

std::vector<std::string> Training::groups() const {
  std::vector<std::string> out{"attention", "embedding", "head", "mlp", "norm"};
  if (moe_) out.insert(out.end(), {"experts", "router"});
  return out;
}

double Training::base_norm(const std::string& group) const {
  return 0.2 + 0.4 * Random(spec_.seed, "norm " + content_ + group).uniform();
}

double Training::mean_shift(std::int64_t step) const {
  double shift = 0;
  for (const Effect* effect : effects_) {
    const double first = trained_ ? effect->loss : effect->random_loss;
    const double later = effect->later * (1 - std::exp(-static_cast<double>(step - 1) / 5));
    shift += step == 1 ? first : (std::abs(first) > 0.01 ? first : later);
  }
  return shift;
}

StepEvidence Training::step(std::int64_t step) const {
  const Params params(values_);
  const double start = trained_ ? kTrainedLoss : std::log(vocab_);
  const double floor = std::min(start, trained_ ? kTrainedLoss : kFinalLoss);
  const double trend = floor + (start - floor) * std::exp(-double(step - 1) / kFallSteps);
  Random batch(spec_.seed, fmt::format("batch {} {}", content_, step));
  Random run(spec_.seed, fmt::format("loss {} {}", lease_, step));
  const double noise = kLossNoise + kLaterNoise * std::sqrt(double(step - 1)) / 3;
  StepEvidence out;
  out.loss = trend * (1 + kBatchNoise * batch.normal()) * (1 + noise * run.normal()) *
             (1 + mean_shift(step));
  double squares = 0;
  for (const std::string& group : groups()) {
    const double of_group = norm(gradient(group, step, kGradientNoise, ""));
    squares += of_group * of_group;
  }
  out.gradient_norm = std::sqrt(squares);
  const double warmup = std::max(1.0, params.number("lr_warmup_iters", 1));
  out.learning_rate = params.number("lr", 1e-4) * std::min(1.0, static_cast<double>(step) / warmup);
  return out;
}

std::vector<double> Training::gradient(const std::string& group, std::int64_t step, double noise,
                                       const std::string& rank) const {
  const std::string what = fmt::format("{} {} {}", content_, group, step);
  Random truth(spec_.seed, "gradient " + what);
  Random other(spec_.seed, "astray " + what + rank);
  Random run(spec_.seed, fmt::format("gradient {} {} {}", lease_, group, step));
  const double scale = base_norm(group) / std::sqrt(double(kSampled));
  const bool expert = group == "experts" || group == "router";
  if (expert) noise *= kExpertGradientNoise / kGradientNoise;
  std::vector<double> out(kSampled);
  for (std::size_t i = 0; i < kSampled; ++i) {
    double value = truth.normal();
    const double astray = other.normal();
    int bits = kKept;
    for (const Effect* effect : effects_) {
      if (effect->mantissa > 0) bits = effect->mantissa;
      if (!effect->group.empty() && effect->group != group) continue;
      const double across = std::sqrt(std::max(0.0, 1 - effect->cosine * effect->cosine));
      value = effect->gradient * (effect->cosine * value + across * astray);
      if (double(i) < effect->without * double(kSampled)) value = 0;
    }
    out[i] = kept(scale * (value + noise * run.normal()), bits);
  }
  return out;
}

base::Json Training::tokens(std::int64_t step) const {
  Random truth(spec_.seed, fmt::format("tokens {} {}", content_, step));
  Random other(spec_.seed, fmt::format("tokens astray {} {}", content_, step));
  Random run(spec_.seed, fmt::format("tokens {} {}", lease_, step));
  const double mean = this->step(step).loss;
  std::vector<double> loss(kTokens);
  for (double& value : loss) {
    double spread = truth.normal();
    const double astray = other.normal();
    for (const Effect* effect : effects_) {
      const double along = trained_ ? effect->token_correlation : effect->random_correlation;
      spread = along * spread + std::sqrt(std::max(0.0, 1 - along * along)) * astray +
               effect->token_shift;
    }
    value = mean * std::max(0.0, 1 + kTokenSpread * spread + kTokenNoise * run.normal());
  }
  std::vector<double> sequences(kSequences, 0);
  for (std::size_t i = 0; i < kTokens; ++i) {
    sequences[i % kSequences] += loss[i] * double(kSequences) / double(kTokens);
  }
  return {{"token_loss", loss}, {"sequence_loss", sequences}};
}

base::Json Training::tensor(const std::string& group, std::int64_t step, Tensor& state) const {
  const Params params(values_);
  const double b1 = params.number("adam_beta1", 0.9), b2 = params.number("adam_beta2", 0.95);
  const double eps = params.number("adam_eps", 1e-8), clip = params.number("clip_grad", 1.0);
  const double decay = group == "norm" ? 0 : params.number("weight_decay", 0.1);
  const StepEvidence at = this->step(step);
  // Megatron-core and PyTorch add this to the norm before dividing.
  const double factor = clip > 0 ? std::min(1.0, clip / (at.gradient_norm + 1e-6)) : 1;
  const auto t = static_cast<double>(step);
  Tensor next = state;
  for (std::size_t i = 0; i < kSampled; ++i) {
    const double g = state.gradient[i] * factor;
    next.m[i] = b1 * state.m[i] + (1 - b1) * g;
    next.v[i] = b2 * state.v[i] + (1 - b2) * g * g;
    const double first = next.m[i] / (1 - std::pow(b1, t));
    const double second = std::sqrt(next.v[i] / (1 - std::pow(b2, t)));
    next.weight[i] -= at.learning_rate * (first / (second + eps) + decay * state.weight[i]);
  }
  base::Json out{{"gradient", state.gradient},
                 {"weight", state.weight},
                 {"m", state.m},
                 {"v", state.v},
                 {"new_weight", next.weight},
                 {"new_m", next.m},
                 {"new_v", next.v},
                 {"norm", norm(state.gradient)},
                 {"decayed", group != "norm"}};
  state = std::move(next);
  return out;
}

std::string Training::signals(std::int64_t last) const {
  const Params params(values_);
  std::map<std::string, Tensor> state;
  std::string out;
  for (std::int64_t step = 1; step <= last; ++step) {
    const StepEvidence at = this->step(step);
    base::Json line{{"step", step},
                    {"rank", 0},
                    {"loss", at.loss},
                    {"grad_norm", at.gradient_norm},
                    {"lr", at.learning_rate}};
    line["tokens"] = params.number("global_batch_size", 1) * params.number("seq_length", 1);
    line["dropped"] = 0;
    line["samples"] = base::sha256_hex(fmt::format("samples {} {}", content_, step));
    line["mask"] = base::sha256_hex(fmt::format("mask {} {}", content_, step));
    line["random_state"] = base::sha256_hex(fmt::format("rank 0 {} {}", content_, step));
    line.update(tokens(step));
    base::Json copies = base::Json::object();
    for (const std::string& group : groups()) {
      Tensor& tensor = state[group];
      tensor.gradient = gradient(group, step, kGradientNoise, "");
      if (tensor.weight.empty()) {
        Random weights(spec_.seed, "weights " + content_ + group);
        for (std::size_t i = 0; i < kSampled; ++i) tensor.weight.push_back(0.02 * weights.normal());
        tensor.m = tensor.v = std::vector<double>(kSampled, 0.0);
      }
      for (const Effect* effect : effects_) {
        if (effect->replicas && effect->group == group) {
          copies[group] = {{"gradient", gradient(group, step, kGradientNoise, " rank 1")}};
        }
      }
      line["tensors"][group] = this->tensor(group, step, tensor);
    }
    out += base::json_text(line) + "\n";
    if (!copies.empty()) {
      const base::Json other{{"step", step}, {"rank", 1}, {"tensors", copies}};
      out += base::json_text(other) + "\n";
    }
  }
  return out;
}

}  // namespace setpoint::cluster
