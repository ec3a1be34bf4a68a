// SPDX-License-Identifier: Apache-2.0
// Numbers and words out of a run's final values, under the name of Megatron-core's configuration
// ("hidden_size"), wherever the framework keeps it: flat as Megatron-LM prints it, or in a section
// as Megatron-Bridge writes it ("model.hidden_size", "optimizer.lr").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipe/final_values.h"

namespace setpoint::cluster {

class Params {
 public:
  explicit Params(const recipe::FinalValues& values) : values_(&values) {}

  // The value, or nothing when it is absent or null in every place. Sections are asked in the order
  // in which Megatron-Bridge's later ones overrule earlier ones.
  const base::Json* find(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  std::string word(std::string_view name, const std::string& otherwise = "") const;
  std::vector<std::string> words(std::string_view name) const;  // a list, or one word
  std::string env(const std::string& name) const;

 private:
  const recipe::FinalValues* values_;
};

}  // namespace setpoint::cluster
