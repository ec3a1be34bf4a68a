// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/params.h"

#include <array>
#include <utility>

namespace setpoint::cluster {
namespace {

constexpr std::array<std::string_view, 13> kSections{
    "comm_overlap.", "mixed_precision.", "ddp.", "optimizer.", "model.",  "train.", "dataset.",
    "scheduler.",    "checkpoint.",      "rng.", "tokenizer.", "logger.", ""};
// Megatron-LM's command line has other words for a few fields of the configuration.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kAliases{{
    {"num_moe_experts", "num_experts"},
    {"num_layers_in_first_pipeline_stage", "decoder_first_pipeline_num_layers"},
    {"num_layers_in_last_pipeline_stage", "decoder_last_pipeline_num_layers"},
    {"gated_linear_unit", "swiglu"},
    {"vocab_size", "padded_vocab_size"},
    {"grad_reduce_in_fp32", "accumulate_allreduce_grads_in_fp32"},
}};

}  // namespace

const base::Json* Params::find(std::string_view name) const {
  for (const std::string_view section : kSections) {
    const auto it = values_->parameters.find(std::string(section) + std::string(name));
    if (it != values_->parameters.end() && !it->second.is_null()) return &it->second;
  }
  for (const auto& [ours, theirs] : kAliases) {
    if (ours == name) return find(theirs);
  }
  return nullptr;
}

double Params::number(std::string_view name, double otherwise) const {
  const base::Json* value = find(name);
  return value != nullptr && value->is_number() ? value->get<double>() : otherwise;
}

std::int64_t Params::integer(std::string_view name, std::int64_t otherwise) const {
  const base::Json* value = find(name);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : otherwise;
}

bool Params::flag(std::string_view name, bool otherwise) const {
  const base::Json* value = find(name);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
}

std::string Params::word(std::string_view name, const std::string& otherwise) const {
  const base::Json* value = find(name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : otherwise;
}

std::vector<std::string> Params::words(std::string_view name) const {
  std::vector<std::string> out;
  const base::Json* value = find(name);
  if (value == nullptr) return out;
  if (value->is_string()) out.push_back(value->get<std::string>());
  if (!value->is_array()) return out;
  for (const base::Json& entry : *value) {
    if (entry.is_string()) out.push_back(entry.get<std::string>());
  }
  return out;
}

std::string Params::env(const std::string& name) const {
  const auto it = values_->environment.find(name);
  return it == values_->environment.end() ? "" : it->second;
}

}  // namespace setpoint::cluster
