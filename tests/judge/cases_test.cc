// SPDX-License-Identifier: Apache-2.0
// Changes that trained something else in somebody's hands, or did not, from issue trackers and
// papers: base -> candidate as final values, with the verdict that each must get and why.
#include "cases.h"

namespace setpoint::judge {
namespace {

TEST(GateCases, GetTheirVerdictAndTheirReason) {
  const auto cases = case_lines("gate.jsonl");
  EXPECT_EQ(cases.size(), 39U);
  for (const base::Json& one : cases) {
    const std::string id = one["id"];
    const recipe::Run base = base_of(one);
    recipe::Run candidate = base;
    recipe::FinalValues asked = base.values;
    put(one["change"], one.contains("overruled") ? asked.parameters : candidate.values.parameters);
    for (const auto& name : one.value("drop", base::Json::array())) {
      candidate.values.parameters.erase(name.get<std::string>());
    }
    recipe::Run original = base;
    if (one.contains("environment")) {
      original.values.environment = one["environment"][0].get<std::map<std::string, std::string>>();
      candidate.values.environment =
          one["environment"][1].get<std::map<std::string, std::string>>();
    }
    const Judges& judges = judges_of(base.values.framework);
    const bool overruled = one.contains("overruled");
    const GateReport report =
        gate_before({original, overruled ? &base.values : nullptr},
                    {candidate, overruled ? &asked : nullptr}, judges.by, judges.defects);
    EXPECT_EQ(Ruling::kNames[static_cast<std::size_t>(report.verdict)], one["verdict"])
        << id << ": " << shown(report);
    EXPECT_NE(shown(report).find(one["why"].get<std::string>()), std::string::npos)
        << id << ": " << shown(report);
  }
}

// 967 pairs of public Megatron-LM reference runs that differ in layout options only, as 63 groups:
// each group passes, or what keeps it from passing is a condition that is named.
TEST(GateCases, LeversOfReferenceRunsPassOrNameTheirCondition) {
  const base::Json table = case_file("calibration.json");
  ASSERT_EQ(table["groups"].size(), 63U);
  const Judges& judges = judges_of("megatron-core");
  int passed = 0;
  for (const base::Json& group : table["groups"]) {
    const recipe::Run base = base_of(group);
    recipe::Run candidate = base;
    for (const auto& lever : group["changed"]) {
      put(table["levers"][lever.get<std::string>()], candidate.values.parameters);
    }
    const GateReport report = gate_before({base}, {candidate}, judges.by, judges.defects);
    passed += report.verdict == Outcome::pass || report.verdict == Outcome::unchanged;
    for (const Finding& finding : report.findings) {
      if (finding.verdict == Outcome::pass) continue;
      const bool named = finding.kind == "known defect" ||
                         finding.why.find("not known: ") != std::string::npos ||
                         finding.why.find("does not hold: ") != std::string::npos ||
                         finding.why.find("not judged by a person") != std::string::npos;
      EXPECT_TRUE(named) << group["changed"] << shown(report);
    }
  }
  RecordProperty("passed", passed);
  EXPECT_GE(passed, 35) << passed;
}

}  // namespace
}  // namespace setpoint::judge
