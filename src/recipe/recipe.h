// SPDX-License-Identifier: Apache-2.0
// A recipe as its file states it (docs/formats/recipe.md): `settings` and `environment` are what is
// asked of the framework, in its own names; the grouped fields are derived from final values, for
// people and for the simulator.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "recipe/final_values.h"

namespace setpoint::recipe {

struct Recipe {
  std::string name;
  std::string framework, version;  // "megatron-bridge", "0.6.2"
  std::map<std::string, base::Json> settings;
  std::map<std::string, std::string> environment;
  base::Json document;  // the whole file, keys and types checked
};

Result<Recipe> parse_recipe(std::string_view text, const std::string& what);

// Of what is asked for, before anything is launched: framework, version, settings, environment in
// canonical form. The order of keys, the name and the grouped fields have no part in it.
Result<std::string> requested_hash(const Recipe& recipe);

}  // namespace setpoint::recipe
