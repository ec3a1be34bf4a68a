// SPDX-License-Identifier: Apache-2.0
// Recipes of the case tables as two sides of the gate.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "setpoint/gate.h"

namespace setpoint::judge {

inline base::Json case_file(const std::string& name) {
  const auto text = base::read_file(std::string(SETPOINT_SOURCE_DIR "/tests/judge/cases/") + name);
  return text.ok() ? *base::parse_json(*text, name) : base::Json();
}

inline std::vector<base::Json> case_lines(const std::string& name) {
  const auto text = base::read_file(std::string(SETPOINT_SOURCE_DIR "/tests/judge/cases/") + name);
  std::vector<base::Json> out;
  std::string rest = text.ok() ? *text : "";
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    out.push_back(*base::parse_json(rest.substr(0, end), name));
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return out;
}

struct Judges {
  Register by;
  Defects defects;
};

// Registers are read once per test program.
inline const Judges& judges_of(const std::string& framework) {
  static std::map<std::string, Judges> known;
  const auto names = register_names();
  const bool own = std::find(names.begin(), names.end(), framework) != names.end();
  const std::string name = own ? framework : "generic";
  const auto it = known.find(name);
  if (it != known.end()) return it->second;
  auto by = load_register(name);
  EXPECT_TRUE(by.ok()) << by.error().text;
  auto defects = shipped_defects(*by);
  EXPECT_TRUE(defects.ok()) << defects.error().text;
  return known.emplace(name, Judges{std::move(*by), std::move(*defects)}).first->second;
}

inline void put(const base::Json& members, std::map<std::string, base::Json>& to) {
  for (const auto& [name, value] : members.items()) to[name] = value;
}

// The case's base; for megatron-core on top of the values of a whole recipe.
inline recipe::Run base_of(const base::Json& one) {
  recipe::Run run;
  run.values.framework = one.value("framework", "megatron-core");
  run.values.version = one.value("version", "0.19.1");
  if (run.values.framework == "megatron-core") {
    const base::Json whole = case_file("megatron_base.json");
    put(whole["parameters"], run.values.parameters);
    put(whole["facts"], run.values.facts);
  }
  put(one["base"], run.values.parameters);
  if (one.contains("facts")) put(one["facts"], run.values.facts);
  return run;
}

inline std::string shown(const GateReport& report) {
  std::string out = report.summary;
  for (const Finding& finding : report.findings) {
    out += "\n  " + std::string(Ruling::kNames[static_cast<std::size_t>(finding.verdict)]) + " " +
           finding.name + ": " + finding.why;
  }
  for (const std::string& note : report.notes) out += "\n  note: " + note;
  return out;
}

}  // namespace setpoint::judge
