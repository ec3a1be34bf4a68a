// SPDX-License-Identifier: Apache-2.0
// Names of models: the ids that ship with the binary, other names for them, and the published
// checkpoints of another precision (perfdb/model_ids.json).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "setpoint/result.h"

namespace setpoint::model {

// The shipped id that `name` means: itself, an alias, or either in other letter case.
std::optional<std::string> shipped_id(std::string_view name);
// The text of a shipped config.json.
std::optional<std::string_view> shipped_config(std::string_view id);
// A shipped checkpoint of `model` in that precision (fp8, fp4 ...), by the file or by its name.
std::optional<std::string> shipped_checkpoint(const std::string& model,
                                              const std::string& precision);

}  // namespace setpoint::model
