// SPDX-License-Identifier: Apache-2.0
#include "recipe/step_log.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "recipe/log_lines.h"

namespace setpoint::recipe {
namespace {

// What a line of this form has, each before its number. "": the form has none.
struct Form {
  std::string_view step, loss, grad_norm, time;
  double ms_per_unit;
  std::string_view tokens_per_s, skipped, invalid;
};
constexpr std::array kForms{
    Form{" iteration ", "| lm loss: ", "| grad norm: ", "| elapsed time per iteration (ms): ", 1,
         "", "| number of skipped iterations: ", "| number of nan iterations: "},
    Form{"step: ", " loss: ", " grad_norm: ", "", 1, " tps: ", "", ""},
    Form{"steps: ", " loss: ", "", " iter time (s): ", 1000, "", "", ""},
    Form{"", "{'loss': ", "'grad_norm': ", "", 1, "", "", ""},
};

// The number behind the mark; "nan" and "inf" are numbers here, "1,234" is 1234.
std::optional<double> number_after(const std::string& line, std::string_view mark) {
  const std::size_t at = mark.empty() ? std::string::npos : line.find(mark);
  if (at == std::string::npos) return std::nullopt;
  std::size_t first = at + mark.size();
  while (first < line.size() && (line[first] == ' ' || line[first] == '\'')) ++first;
  std::string text;
  for (; first < line.size() && std::string_view(" |/}'").find(line[first]) == std::string::npos;
       ++first) {
    if (line[first] != ',') text += line[first];
  }
  if (text.empty() || text.size() > 64) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0') return std::nullopt;
  return value;
}

std::optional<StepLine> step_line(const std::string& line, const Form& form, std::int64_t next) {
  StepLine out;
  const auto loss = number_after(line, form.loss);
  const auto step = form.step.empty() ? double(next) : number_after(line, form.step);
  constexpr double kMostSteps = 1e12;
  if (!loss || !step || !(*step >= 0 && *step <= kMostSteps)) return std::nullopt;
  out.step = static_cast<std::int64_t>(*step);
  out.loss = *loss;
  out.grad_norm = number_after(line, form.grad_norm);
  if (const auto time = number_after(line, form.time)) out.time = Ms(*time * form.ms_per_unit);
  out.tokens_per_s = number_after(line, form.tokens_per_s);
  const auto count = [&](std::string_view mark) {
    const double value = number_after(line, mark).value_or(0);
    return value > 0 && value < kMostSteps ? static_cast<std::int64_t>(value) : 0;
  };
  out.skipped = count(form.skipped);
  out.invalid = count(form.invalid);
  return out;
}

}  // namespace

Result<std::vector<StepLine>> read_steps(std::string_view log, const std::string& what) {
  std::vector<StepLine> steps;
  const Form* form = nullptr;
  int rank = -1;
  for (const LogLine& line : log_lines(log)) {
    for (const Form& candidate : kForms) {
      if (form != nullptr && (form != &candidate || line.rank != rank)) continue;
      const auto found = step_line(line.text, candidate, steps.empty() ? 1 : steps.back().step + 1);
      if (!found) continue;
      form = &candidate;
      rank = line.rank;
      if (!steps.empty() && found->step <= steps.back().step) {
        return Error::bad_input(fmt::format("{}: step {} is stated after step {}", what,
                                            found->step, steps.back().step));
      }
      steps.push_back(*found);
      break;
    }
  }
  if (steps.empty()) {
    return Error::bad_input(what + ": no step line of Megatron, TorchTitan or DeepSpeed");
  }
  return steps;
}

}  // namespace setpoint::recipe
