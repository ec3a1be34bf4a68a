// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "recipe/forms.h"
#include "recipe/python_value.h"

namespace setpoint::recipe {
namespace {

// config/job_config.py and trainer.py, `maybe_log`; the second is the text of older versions.
constexpr std::array<std::string_view, 2> kBefore{"Running with configs: {",
                                                  "Running with args: {"};

struct Derived {
  std::string_view before, name;
};
// "Trainer is initialized with local batch size 8, global batch size 64, gradient accumulation
// steps 1, sequence length 2048, ..." (trainer.py): what the configuration leaves to be derived.
constexpr std::string_view kStart = "Trainer is initialized with ";
constexpr std::array kDerived{
    Derived{"local batch size ", "derived.local_batch_size"},
    Derived{"global batch size ", "derived.global_batch_size"},
    Derived{"gradient accumulation steps ", "derived.gradient_accumulation_steps"},
    Derived{"gradient_accumulation_steps: ", "derived.gradient_accumulation_steps"},
    Derived{"sequence length ", "derived.sequence_length"},
};

void add_derived(const std::string& line, FinalValues& to) {
  for (const Derived& value : kDerived) {
    const std::size_t at = line.find(value.before);
    if (at == std::string::npos) continue;
    const std::size_t first = at + value.before.size();
    const std::size_t end = std::min(line.find_first_not_of("0123456789", first), line.size());
    to.parameters[std::string(value.name)] = python_value(line.substr(first, end - first));
  }
}

}  // namespace

Result<FinalValues> read_torchtitan_json(const base::Json& json, const std::string& what) {
  FinalValues values;
  values.framework = "torchtitan";
  if (auto flat = flatten(json, "", values); !flat.ok()) return flat.error().at(what);
  return values;
}

Result<FinalValues> read_torchtitan_log(const std::vector<LogLine>& lines,
                                        const std::string& what) {
  FinalValues values;
  bool found = false;
  for (const std::string_view before : kBefore) {
    for (std::size_t at = 0; (at = find_line(lines, before, at)) != std::string::npos; ++at) {
      SP_TRY(const base::Json json, json_from(lines, at, what));
      SP_TRY(FinalValues next, read_torchtitan_json(json, what));
      if (found && next != values) {
        return Error::bad_input(fmt::format(
            "{}: line {}: a second configuration that differs from the first", what, at + 1));
      }
      values = std::move(next);
      found = true;
    }
  }
  if (!found) return Error::bad_input(what + ": no TorchTitan configuration");
  const std::size_t start = find_line(lines, kStart);
  if (start != std::string::npos) add_derived(lines[start].text, values);
  if (find_line(lines, "Finished loading the checkpoint in") != std::string::npos) {
    values.facts["weights_loaded"] = true;  // components/checkpoint.py
  }
  return values;
}

}  // namespace setpoint::recipe
