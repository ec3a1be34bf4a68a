// SPDX-License-Identifier: Apache-2.0
// What a training run really uses, after every default, override and side effect: the parameters a
// framework resolved, the environment its processes saw, and facts about the run that no single
// parameter tells. The gate compares these, never the edit that was asked for.
#pragma once

#include <map>
#include <string>

#include "base/json.h"

namespace setpoint::recipe {

struct FinalValues {
  std::string framework;  // a register's name: "megatron-core", "megatron-bridge", ...
  std::string version;    // as the framework states it, "" = unknown
  // Dotted names as the framework's own output has them. Values are typed: true, 4096, 1e-5,
  // "adam", null, lists. A missing name and null are distinct.
  std::map<std::string, base::Json> parameters;
  std::map<std::string, std::string> environment;
  std::map<std::string, base::Json> facts;
  bool operator==(const FinalValues&) const = default;
};

}  // namespace setpoint::recipe
