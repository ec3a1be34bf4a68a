// SPDX-License-Identifier: Apache-2.0
// Final values of small made-up runs: what was asked for, the shipped register's defaults, and all
// side effects.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "judge/defects.h"
#include "judge/side_effects.h"

namespace setpoint::judge {

inline const Register& shipped(const std::string& name) {
  static std::map<std::string, Register> loaded;
  if (!loaded.contains(name)) {
    auto by = load_register(name);
    if (!by) throw std::runtime_error(by.error().text);
    loaded.emplace(name, std::move(by).value());
  }
  return loaded.at(name);
}

using Parameters = std::map<std::string, base::Json>;

inline Parameters with(Parameters base, const Parameters& changes) {
  for (const auto& [name, value] : changes) base[name] = value;
  return base;
}

// A dense model of eight GPUs without dropout that starts from a checkpoint.
inline const Parameters kDense{{"world_size", 8},
                               {"num_layers", 32},
                               {"hidden_size", 4096},
                               {"num_attention_heads", 32},
                               {"seq_length", 4096},
                               {"micro_batch_size", 1},
                               {"global_batch_size", 64},
                               {"hidden_dropout", 0.0},
                               {"attention_dropout", 0.0},
                               {"bf16", true},
                               {"vocab_size", 128000},
                               {"make_vocab_size_divisible_by", 128},
                               {"load", "/ckpt"},
                               {"tensor_model_parallel_size", 1},
                               {"pipeline_model_parallel_size", 1},
                               {"context_parallel_size", 1},
                               {"untie_embeddings_and_output_weights", true}};
inline const Parameters kExperts = with(kDense, {{"num_experts", 8},
                                                 {"moe_router_topk", 2},
                                                 {"moe_aux_loss_coeff", 0.01},
                                                 {"moe_grouped_gemm", true},
                                                 {"expert_model_parallel_size", 1},
                                                 {"clip_grad", 1.0}});

inline recipe::FinalValues core(const Parameters& requested, const std::string& version = "0.20.0",
                                const std::string& date = "") {
  recipe::FinalValues values;
  values.framework = "megatron-core";
  values.parameters = requested;
  values = replay(shipped("megatron-core"), values).values;
  values.version = version;
  values.facts = {
      {"weights_loaded", true}, {"layer_map_complete", true}, {"te_version", "2.20"}, {"arch", 90}};
  if (!date.empty()) values.facts["source_date"] = date;
  return values;
}

}  // namespace setpoint::judge
