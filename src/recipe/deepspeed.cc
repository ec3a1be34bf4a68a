// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/fields.h"
#include "recipe/forms.h"
#include "recipe/python_value.h"

namespace setpoint::recipe {
namespace {

using base::Json;

// Marks of deepspeed/runtime/config.py: every attribute of the engine's configuration on a line
// ("[...:print]   name ..... value", dots to column 29), then the JSON it was given.
constexpr std::string_view kAttribute = ":print]   ";
constexpr std::string_view kGiven = ":print_user_config]   json = {";

struct Renamed {
  std::string_view attribute, name;  // as the JSON configuration has it
};
constexpr std::array kRenamed{
    Renamed{"zero_config", "zero_optimization"},
    Renamed{"bfloat16_enabled", "bf16.enabled"},
    Renamed{"bfloat16_config", "bf16"},
    Renamed{"bfloat16_immediate_grad_update", "bf16.immediate_grad_update"},
    Renamed{"float16_config", "fp16"},
    Renamed{"fp16_enabled", "fp16.enabled"},
    Renamed{"fp16_auto_cast", "fp16.auto_cast"},
    Renamed{"grad_accum_dtype", "data_types.grad_accum_dtype"},
    Renamed{"optimizer_name", "optimizer.type"},
    Renamed{"optimizer_params", "optimizer.params"},
    Renamed{"scheduler_name", "scheduler.type"},
    Renamed{"scheduler_params", "scheduler.params"},
};

std::string json_name(const std::string& attribute) {
  for (const Renamed& row : kRenamed) {
    if (row.attribute == attribute) return std::string(row.name);
  }
  return attribute;
}

// "stage=1 overlap_comm=False offload_optimizer=None": pydantic's text of a model. A value with
// blanks or brackets in it is not taken apart.
std::optional<Json> assignments(std::string_view text) {
  Json out = Json::object();
  while (!text.empty()) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    const std::string key(text.substr(0, equals));
    if (key.find_first_of(" ({[<'") != std::string::npos) return std::nullopt;
    const std::size_t end = std::min(text.find(' ', equals), text.size());
    const std::string_view value = text.substr(equals + 1, end - equals - 1);
    if (value.find_first_of("({[<'") != std::string_view::npos) return std::nullopt;
    out[key] = python_value(value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (out.empty()) return std::nullopt;
  return out;
}

// Over what the JSON said: the engine's word is the last one.
void overwrite(const std::string& name, const Json& value, FinalValues& to) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, member] : value.items()) overwrite(name + "." + key, member, to);
    return;
  }
  if (!value.is_structured()) {  // "optimizer.params: null" beside "optimizer.params.lr"
    const auto below = to.parameters.lower_bound(name + ".");
    if (below != to.parameters.end() && below->first.starts_with(name + ".")) return;
  }
  to.parameters[name] = value;
}

Result<void> read_attribute(const std::vector<LogLine>& lines, std::size_t at,
                            const std::string& what, FinalValues& to) {
  const std::string& line = lines[at].text;
  const std::size_t start = line.find(kAttribute) + kAttribute.size();
  const std::size_t space = line.find(' ', start);
  if (space == std::string::npos) return {};
  const std::size_t value = std::min(line.find_first_not_of(". ", space), line.size());
  const std::string name = json_name(line.substr(start, space - start));
  const std::string text = line.substr(value);
  if (text == "{") {
    SP_TRY(const Json json, json_from(lines, at, what));
    overwrite(name, json, to);
    return {};
  }
  const auto parts = assignments(text);
  overwrite(name, parts ? *parts : python_value(text), to);
  return {};
}

}  // namespace

Result<FinalValues> read_deepspeed_json(const base::Json& json, const std::string& what) {
  FinalValues values;
  values.framework = "deepspeed";
  if (auto flat = flatten(json, "", values); !flat.ok()) return flat.error().at(what);
  return values;
}

Result<FinalValues> read_deepspeed_log(const std::vector<LogLine>& lines, const std::string& what) {
  const std::size_t given = find_line(lines, kGiven);
  const std::size_t first = find_line(lines, "DeepSpeedEngine configuration:");
  if (given == std::string::npos || first == std::string::npos || first > given) {
    return Error::bad_input(what + ": DeepSpeed's configuration has no end");
  }
  if (find_line(lines, kGiven, given + 1) != std::string::npos) {
    return Error::bad_input(what + ": two engine configurations: which one is meant?");
  }
  SP_TRY(const Json json, json_from(lines, given, what));
  SP_TRY(FinalValues values, read_deepspeed_json(json, what));
  for (std::size_t at = first; (at = find_line(lines, kAttribute, at)) < given; ++at) {
    SP_CHECK(read_attribute(lines, at, what, values));
  }
  return values;
}

}  // namespace setpoint::recipe
