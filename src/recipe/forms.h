// SPDX-License-Identifier: Apache-2.0
// One reader per form in which a framework states what a run really uses. `what` names the text in
// errors. How a form is recognised: read.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recipe/final_values.h"
#include "recipe/log_lines.h"
#include "setpoint/result.h"

namespace setpoint::recipe {

// Nested objects as dotted names; lists stay whole. Two members that flatten to one name are an
// error.
Result<void> flatten(const base::Json& json, const std::string& prefix, FinalValues& to);

// The "arguments" block that Megatron-LM prints (arguments.py:_print_args), within a whole log, and
// its line about the padded vocabulary. Several blocks that differ are an error: one of them is not
// the run's.
Result<FinalValues> read_megatron_log(const std::vector<LogLine>& lines, const std::string& what);
// Megatron-Bridge's whole configuration (config.py, `logger.save_config_filepath`).
Result<FinalValues> read_bridge_yaml(std::string_view text, const std::string& what);
// TorchTitan's configuration: its JSON alone, or the log that holds it and the derived batch sizes.
Result<FinalValues> read_torchtitan_json(const base::Json& json, const std::string& what);
Result<FinalValues> read_torchtitan_log(const std::vector<LogLine>& lines, const std::string& what);
// DeepSpeed's JSON file, or the log of an engine: its attributes win over the JSON it was given.
Result<FinalValues> read_deepspeed_json(const base::Json& json, const std::string& what);
Result<FinalValues> read_deepspeed_log(const std::vector<LogLine>& lines, const std::string& what);
// {"framework", "version", "parameters", "environment", "facts"}
Result<FinalValues> read_generic_json(const base::Json& json, const std::string& what);
// /proc/PID/environ, or an object of texts: the environment alone.
Result<FinalValues> read_environ(std::string_view text, const std::string& what);
Result<FinalValues> read_environment_json(const base::Json& json, const std::string& what);

// The first lines that hold one of these texts, or npos.
std::size_t find_line(const std::vector<LogLine>& lines, std::string_view needle,
                      std::size_t first = 0);
// The JSON object that opens on line `first` of that rank and may go on over the next ones.
Result<base::Json> json_from(const std::vector<LogLine>& lines, std::size_t first,
                             const std::string& what);

}  // namespace setpoint::recipe
