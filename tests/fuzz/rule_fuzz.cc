// SPDX-License-Identifier: Apache-2.0
// Any text as a rule: an error line, or a tree whose evaluation over some values ends.
#include <cstdlib>

#include "judge/rule.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto rule = judge::Rule::parse({reinterpret_cast<const char*>(data), size});
  if (!rule) {
    if (rule.error().text.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  static const recipe::FinalValues kValues = [] {
    recipe::FinalValues values;
    values.parameters = {{"a", 1},    {"b", -7},        {"c", 0.5},
                         {"d", "x1"}, {"e", nullptr},   {"f", base::Json::array({1, "x"})},
                         {"g", true}, {"h", INT64_MIN}, {"i", "0.16.0rc0"}};
    values.environment = {{"A", "1"}};
    values.facts = {{"a", 2}};
    return values;
  }();
  const judge::FactRules facts{{"b", *rule}};
  const judge::RuleScope scope{kValues, kValues, {}, judge::Truth::no, &facts};
  const judge::RuleAnswer answer = judge::evaluate(*rule, scope);
  if (!answer.value && answer.unknown.empty()) std::abort();
  return 0;
}
