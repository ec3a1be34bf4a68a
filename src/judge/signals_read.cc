// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "judge/signals.h"
#include "recipe/final_values.h"

namespace setpoint::judge {
namespace {

using base::Json;
using base::JsonView;
using Values = std::vector<double>;

constexpr std::size_t kMostElements = std::size_t{1} << 20;  // of one list
constexpr double kMost = 1e300;

struct NumberMember {
  const char* key;
  std::optional<double> StepSignals::*at;
};
constexpr std::array kNumbers{NumberMember{"loss", &StepSignals::loss},
                              NumberMember{"grad_norm", &StepSignals::gradient_norm},
                              NumberMember{"lr", &StepSignals::learning_rate},
                              NumberMember{"tokens", &StepSignals::tokens},
                              NumberMember{"dropped", &StepSignals::dropped},
                              NumberMember{"aux_loss", &StepSignals::aux_loss},
                              NumberMember{"zeros", &StepSignals::zeros}};
struct ListMember {
  const char* key;
  Values StepSignals::*at;
};
constexpr std::array kLists{ListMember{"sequence_loss", &StepSignals::sequence_loss},
                            ListMember{"token_loss", &StepSignals::token_loss},
                            ListMember{"expert_load", &StepSignals::expert_load}};
struct TensorMember {
  const char* key;
  Values TensorSample::*at;
};
constexpr std::array kTensor{TensorMember{"gradient", &TensorSample::gradient},
                             TensorMember{"weight", &TensorSample::weight},
                             TensorMember{"m", &TensorSample::first_moment},
                             TensorMember{"v", &TensorSample::second_moment},
                             TensorMember{"new_weight", &TensorSample::new_weight},
                             TensorMember{"new_m", &TensorSample::new_first_moment},
                             TensorMember{"new_v", &TensorSample::new_second_moment}};

// null is NaN: JSON has no word for what a broken run may hold.
Result<Values> list_of(const JsonView& view) {
  SP_TRY(const std::vector<JsonView> items, view.items());
  if (items.size() > kMostElements) return view.error("too many elements");
  Values out;
  for (const JsonView& item : items) {
    if (item.json().is_null()) {
      out.push_back(NAN);
      continue;
    }
    SP_TRY(const double value, item.number(-kMost, kMost));
    out.push_back(value);
  }
  return out;
}

// What a rank says about elements `at` of a tensor, put to what the ranks before it said; where two
// speak of the same element their difference is what the replica signals are made of.
Result<void> join(const JsonView& view, const Values& at, const Values& mine, Values& all,
                  double* replicas) {
  if (mine.size() != at.size()) return view.error("as many elements as \"at\" has are expected");
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto index = static_cast<std::size_t>(at[i]);
    if (index >= all.size()) all.resize(index + 1, NAN);
    if (!std::isnan(all[index])) {
      difference += (all[index] - mine[i]) * (all[index] - mine[i]);
      size += all[index] * all[index];
    } else {
      all[index] = mine[i];
    }
  }
  if (replicas != nullptr && difference > 0) {
    *replicas = std::max(*replicas, std::sqrt(difference / size));
  }
  return {};
}

Result<void> read_tensor(const JsonView& view, TensorSample& to, StepSignals& step) {
  std::vector<std::string> known{"at", "norm", "decayed"};
  for (const TensorMember& member : kTensor) known.emplace_back(member.key);
  SP_CHECK(view.only(known));
  Values at;
  if (const auto given = view.find("at")) {
    SP_TRY(at, list_of(*given));
    for (const double index : at) {
      if (!(index >= 0 && index < double(kMostElements) && index == std::floor(index))) {
        return given->error("expected indices below " + std::to_string(kMostElements));
      }
    }
  }
  for (const TensorMember& member : kTensor) {
    const auto given = view.find(member.key);
    if (!given) continue;
    SP_TRY(const Values mine, list_of(*given));
    while (at.size() < mine.size() && !view.find("at")) at.push_back(double(at.size()));
    double* replicas = member.at == &TensorSample::gradient     ? &step.gradient_replicas
                       : member.at == &TensorSample::new_weight ? &step.weight_replicas
                                                                : nullptr;
    SP_CHECK(join(*given, at, mine, to.*member.at, replicas));
  }
  if (const auto norm = view.find("norm")) {
    SP_TRY(to.gradient_norm, norm->number(0, kMost));
  }
  if (const auto decayed = view.find("decayed")) {
    SP_TRY(to.decayed, decayed->boolean());
  }
  return {};
}

Result<void> read_line(const JsonView& view, StepSignals& to) {
  for (const NumberMember& member : kNumbers) {
    const auto given = view.find(member.key);
    if (!given) continue;
    SP_TRY(to.*member.at, given->number(-kMost, kMost));
  }
  for (const ListMember& member : kLists) {
    const auto given = view.find(member.key);
    if (!given) continue;
    SP_TRY(to.*member.at, list_of(*given));
  }
  if (const auto at = view.find("optimizer_step")) {
    SP_TRY(to.optimizer_step, at->integer(1, std::int64_t{1} << 40));
  }
  if (const auto digest = view.find("samples")) {
    SP_TRY(to.samples, digest->string());
  }
  if (const auto digest = view.find("mask")) {
    SP_TRY(to.mask, digest->string());
  }
  if (const auto state = view.find("random_state")) {
    SP_TRY(to.random_state.emplace_back(), state->string());
  }
  const auto tensors = view.find("tensors");
  for (const std::string& name : tensors ? tensors->keys() : std::vector<std::string>()) {
    SP_TRY(const JsonView tensor, tensors->at(name));
    SP_CHECK(read_tensor(tensor, to.tensors[name], to));
  }
  return {};
}

}  // namespace

Result<Signals> read_signals(std::string_view text, const std::string& what) {
  std::vector<std::string> known{"step", "rank",         "optimizer_step", "samples",
                                 "mask", "random_state", "tensors"};
  for (const NumberMember& member : kNumbers) known.emplace_back(member.key);
  for (const ListMember& member : kLists) known.emplace_back(member.key);
  Signals out;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) continue;
    const std::string where = fmt::format("{}:{}", what, number);
    SP_TRY(const Json json, base::parse_json(line, where));
    const JsonView view(json, where);
    SP_CHECK(view.only(known));
    SP_TRY(const JsonView step, view.at("step"));
    SP_TRY(const std::int64_t at, step.integer(1, std::int64_t{1} << 40));
    const bool fresh = !out.contains(at);
    if (fresh) out[at].optimizer_step = at;
    SP_CHECK(read_line(view, out[at]));
  }
  if (out.empty()) return Error::bad_input(what + ": no signals");
  return out;
}

std::optional<AdamW> adamw_of(const recipe::FinalValues& values) {
  struct Constant {
    double AdamW::*at;
    std::array<const char*, 3> names;  // Megatron-LM, Megatron-Bridge, TorchTitan
  };
  constexpr std::array kConstants{
      Constant{&AdamW::beta1, {"adam_beta1", "optimizer.adam_beta1", "optimizer.beta1"}},
      Constant{&AdamW::beta2, {"adam_beta2", "optimizer.adam_beta2", "optimizer.beta2"}},
      Constant{&AdamW::eps, {"adam_eps", "optimizer.adam_eps", "optimizer.eps"}},
      Constant{&AdamW::weight_decay,
               {"weight_decay", "optimizer.weight_decay", "optimizer.weight_decay"}},
      Constant{&AdamW::clip, {"clip_grad", "optimizer.clip_grad", "training.max_norm"}}};
  AdamW out;
  for (const Constant& constant : kConstants) {
    const Json* found = nullptr;
    for (const char* name : constant.names) {
      const auto it = values.parameters.find(name);
      if (it != values.parameters.end() && it->second.is_number()) found = &it->second;
    }
    if (found == nullptr) return std::nullopt;
    out.*constant.at = found->get<double>();
  }
  return out;
}

}  // namespace setpoint::judge
