// SPDX-License-Identifier: Apache-2.0
// Any text as a register and as a file of defects: one error line, or a register that judges.
#include <cstdlib>

#include "judge/defects.h"
#include "judge/side_effects.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = [](const Error& error) {
    if (error.text.find('\n') != std::string::npos) std::abort();
  };
  const auto by = judge::parse_register(text, "register");
  if (!by) {
    check(by.error());
    const judge::Register none;
    const auto defects = judge::parse_defects(text, "defects", none);
    if (!defects) check(defects.error());
    return 0;
  }
  recipe::FinalValues values;
  values.framework = by->framework;
  values = judge::replay(*by, values).values;
  for (const judge::Entry& entry : by->parameters) {
    const judge::RuleName name{judge::RuleName::Space::parameter, false, entry.name};
    const auto judged = judge::judge_change(*by, name, values, values, judge::Truth::unknown);
    if (judged.verdict == judge::Verdict::pass && !entry.may_pass() && judged.entry == &entry) {
      std::abort();
    }
  }
  return 0;
}
