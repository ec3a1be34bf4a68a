// SPDX-License-Identifier: Apache-2.0
#include "judge/rule.h"

#include <gtest/gtest.h>

#include <string>

#include "judge/rule_version.h"

namespace setpoint::judge {
namespace {

using base::Json;

recipe::FinalValues candidate() {
  recipe::FinalValues values;
  values.parameters = {{"tp", 2},           {"lr", 1e-5},
                       {"bf16", true},      {"cap", nullptr},
                       {"kind", "adam"},    {"modules", Json::array({"attn", "moe"})},
                       {"pattern", "M*M-"}, {"negative", -7}};
  values.environment = {{"NCCL_ALGO", "Ring"}};
  values.facts = {{"weights_loaded", true}, {"te_version", "2.7.0.dev0"}, {"derived.tokens", 4096}};
  return values;
}

recipe::FinalValues baseline() {
  recipe::FinalValues values = candidate();
  values.parameters["tp"] = 1;
  values.facts["weights_loaded"] = false;
  return values;
}

RuleAnswer answer(const std::string& text, Truth defect = Truth::unknown) {
  const auto rule = Rule::parse(text);
  EXPECT_TRUE(rule) << text << ": " << (rule ? "" : rule.error().text);
  if (!rule) return {};
  const recipe::FinalValues after = candidate(), before = baseline();
  const RuleName self{RuleName::Space::parameter, false, "tp"};
  return evaluate(*rule, {after, before, self, defect, nullptr});
}

Json value(const std::string& text) { return answer(text).value.value_or("unknown"); }

std::string error_of(const std::string& text) {
  const auto rule = Rule::parse(text);
  return rule ? "parsed" : rule.error().text;
}

TEST(Rule, BindsTightlyInTheOrderOfTheGrammar) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("-2 * -3"), 6);
  EXPECT_EQ(value("2 + 2 == 4 && 1 < 2"), true);
  EXPECT_EQ(value("true || false && false"), true);  // && before ||
  EXPECT_EQ(value("!false == true"), true);          // ! before ==
  EXPECT_EQ(value("1 + 1 in [1, 2]"), true);         // + before in
}

TEST(Rule, DividesAsPythonDoes) {
  EXPECT_EQ(value("7 // 2"), 3);
  EXPECT_EQ(value("negative // 2"), -4);
  EXPECT_EQ(value("negative % 4"), 1);
  EXPECT_EQ(value("7 / 2"), 3.5);
  EXPECT_EQ(value("7.5 // 2"), 3.0);
  EXPECT_EQ(value("7 / 0"), "unknown");
  EXPECT_EQ(value("7 // 0"), "unknown");
  EXPECT_EQ(value("9223372036854775807 + 1"), 9223372036854775808.0);
}

TEST(Rule, ComparesTyped) {
  EXPECT_EQ(value("tp == 2.0"), true);
  EXPECT_EQ(value("tp == \"2\""), false);
  EXPECT_EQ(value("bf16 == 1"), false);
  EXPECT_EQ(value("lr < 2e-5"), true);
  EXPECT_EQ(value("modules == [\"attn\", \"moe\"]"), true);
  EXPECT_EQ(value("\"attn\" in modules"), true);
  EXPECT_EQ(value("\"M*\" in pattern"), true);
  EXPECT_EQ(value("cap == none"), true);
}

TEST(Rule, TakesWhatIsUnsetAsNeitherMoreNorLess) {
  EXPECT_EQ(value("cap > 0"), false);
  EXPECT_EQ(value("cap <= 0"), false);
  EXPECT_EQ(value("unset(cap)"), true);
  EXPECT_EQ(value("set(tp)"), true);
  EXPECT_EQ(value("cap + 1"), "unknown");
}

TEST(Rule, IsUnknownOnlyWhereTheMissingValueMatters) {
  EXPECT_EQ(value("missing"), "unknown");
  EXPECT_EQ(value("missing == missing"), "unknown");
  EXPECT_EQ(value("set(missing)"), "unknown");
  EXPECT_EQ(value("has(missing)"), false);
  EXPECT_EQ(value("false && missing"), false);
  EXPECT_EQ(value("missing && false"), false);
  EXPECT_EQ(value("true && missing"), "unknown");
  EXPECT_EQ(value("true || ?"), true);
  EXPECT_EQ(value("… || false"), "unknown");
  EXPECT_EQ(value("!missing"), "unknown");
  EXPECT_EQ(value("if(missing, 1, 1)"), "unknown");
  EXPECT_EQ(value("if(bf16, 1, missing)"), 1);
  EXPECT_EQ(value("tp in [missing, 2]"), "unknown");
  EXPECT_EQ(value("missing_function_of + 1"), "unknown");
}

TEST(Rule, NamesWhatWasMissing) {
  EXPECT_EQ(answer("fact.arch >= 100 && set(missing) || base.env.X == 1").unknown,
            (std::vector<std::string>{"fact.arch", "missing"}));
  EXPECT_TRUE(answer("false && missing").unknown.empty());
}

TEST(Rule, ReadsBothSidesFactsEnvironmentAndItself) {
  EXPECT_EQ(value("this == base.this"), false);
  EXPECT_EQ(value("base.tp"), 1);
  EXPECT_EQ(value("changed(tp)"), true);
  EXPECT_EQ(value("changed(lr)"), false);
  EXPECT_EQ(value("fact.weights_loaded && !base.fact.weights_loaded"), true);
  EXPECT_EQ(value("derived.tokens"), 4096);
  EXPECT_EQ(value("env.NCCL_ALGO == \"Ring\""), true);
  EXPECT_EQ(value("unset(env.NCCL_PROTO)"), true);  // the whole environment is known
  EXPECT_EQ(value("len(modules) * 10 + len(pattern)"), 24);
  EXPECT_EQ(answer("!defect_matched", Truth::no).truth(), Truth::yes);
  EXPECT_EQ(answer("!defect_matched", Truth::yes).truth(), Truth::no);
  EXPECT_EQ(answer("!defect_matched").truth(), Truth::unknown);
}

TEST(Rule, LeavesAnEnvironmentThatWasNeverCapturedUnknown) {
  recipe::FinalValues none;
  const auto rule = Rule::parse("unset(env.NCCL_ALGO)");
  EXPECT_EQ(evaluate(*rule, {none, none, {}, Truth::no, nullptr}).truth(), Truth::unknown);
}

TEST(Rule, ComputesFactsFromTheTableUnlessAReaderTellsThem) {
  const FactRules facts{{"twice", *Rule::parse("tp * 2")},
                        {"loop", *Rule::parse("fact.loop + 1")},
                        {"weights_loaded", *Rule::parse("false")}};
  const recipe::FinalValues after = candidate(), before = baseline();
  const RuleScope scope{after, before, {}, Truth::no, &facts};
  EXPECT_EQ(*evaluate(*Rule::parse("fact.twice"), scope).value, 4);
  EXPECT_EQ(*evaluate(*Rule::parse("base.fact.twice"), scope).value, 2);
  EXPECT_EQ(evaluate(*Rule::parse("fact.weights_loaded"), scope).truth(), Truth::yes);
  EXPECT_EQ(evaluate(*Rule::parse("fact.loop"), scope).truth(), Truth::unknown);
}

// Facts that each need the next one twice would take 2^depth steps.
TEST(Rule, StopsAfterAFixedNumberOfSteps) {
  FactRules facts;
  std::string wide = "fact.f1";
  for (int i = 0; i < 300; ++i) wide += " + fact.f1";
  for (int i = 0; i < 8; ++i) {
    std::string text = wide;
    for (std::size_t at; (at = text.find("f1")) != std::string::npos;) {
      text.replace(at, 2, "g" + std::to_string(i + 1));
    }
    facts.emplace("g" + std::to_string(i), *Rule::parse(text));
  }
  const recipe::FinalValues none;
  EXPECT_EQ(evaluate(*Rule::parse("fact.g0"), {none, none, {}, Truth::no, &facts}).truth(),
            Truth::unknown);
}

TEST(Rule, ComparesTextsAsVersions) {
  EXPECT_EQ(value("fact.te_version < \"2.8\""), true);
  EXPECT_EQ(value("fact.te_version < \"2.7.0\""), true);
  EXPECT_EQ(value("\"2.10\" > \"2.9\""), true);
  EXPECT_EQ(value("kind < \"2.8\""), "unknown");
  EXPECT_EQ(value("2.8 < \"2.9\""), "unknown");
}

TEST(Rule, SaysInOneLineWhatDoesNotParse) {
  EXPECT_EQ(error_of(""), "column 1: expected a value, found the end");
  EXPECT_EQ(error_of("a &&"), "column 5: expected a value, found the end");
  EXPECT_EQ(error_of("a b"), "column 3: expected an operator or the end, found \"b\"");
  EXPECT_EQ(error_of("1 < 2 < 3"),
            "column 7: expected no second comparison without parentheses, found \"<\"");
  EXPECT_EQ(error_of("expand(this)"),
            "column 1: no function \"expand\"; there are set, unset, changed, has, len, if");
  EXPECT_EQ(error_of("set(1)"), "column 5: expected a name, found \"1\"");
  EXPECT_EQ(error_of("if(a, b)"), "column 1: if takes 3, found 2");
  EXPECT_EQ(error_of("a = b"), "column 3: \"=\" does not belong into a rule");
  EXPECT_EQ(error_of("\"open"), "column 1: the string has no end");
  EXPECT_EQ(error_of("x['a']").substr(0, 8), "column 2");
  EXPECT_EQ(error_of(std::string(65, '(') + "1"), "column 66: nested deeper than 64");
  EXPECT_EQ(error_of(std::string(65, '!') + "1"), "column 66: nested deeper than 64");
  EXPECT_EQ(error_of(std::string(5000, ' ')), "longer than 4096 bytes");
  std::string many = "1";
  for (int i = 0; i < 600; ++i) many += "+1";
  EXPECT_EQ(error_of(many), "more than 1024 parts");
}

// The order given in PEP 440, "Summary of permitted suffixes and relative ordering".
TEST(RuleVersion, OrdersAsPep440) {
  const char* const kOrdered[] = {"1.dev0",        "1.0.dev456",    "1.0a1",
                                  "1.0a2.dev456",  "1.0a12.dev456", "1.0a12",
                                  "1.0b1.dev456",  "1.0b2",         "1.0b2.post345.dev456",
                                  "1.0b2.post345", "1.0rc1.dev456", "1.0rc1",
                                  "1.0",           "1.0+abc.5",     "1.0.post456.dev34",
                                  "1.0.post456",   "1.0.15",        "1.1.dev1"};
  for (std::size_t i = 0; i + 1 < std::size(kOrdered); ++i) {
    const auto a = parse_python_version(kOrdered[i]), b = parse_python_version(kOrdered[i + 1]);
    ASSERT_TRUE(a && b) << kOrdered[i];
    EXPECT_LT(*a, *b) << kOrdered[i] << " before " << kOrdered[i + 1];
  }
}

TEST(RuleVersion, KnowsOtherSpellings) {
  EXPECT_EQ(parse_python_version("v1.0-RC.1"), parse_python_version("1.0rc1"));
  EXPECT_EQ(parse_python_version("1.0"), parse_python_version("1.0.0"));
  EXPECT_TRUE(parse_python_version("2.8.0a0+34c6371d24.nv25.8"));
  for (const char* bad : {"", "abc", "1.x", "1..2", "2026-02-13", "1.0+", "1.0 rc1 x"}) {
    EXPECT_FALSE(parse_python_version(bad)) << bad;
  }
}

TEST(RuleVersion, HoldsRanges) {
  EXPECT_EQ(in_version_range("0.16.0", ">=0.16,<0.21"), true);
  EXPECT_EQ(in_version_range("0.16.0rc0", ">=0.16,<0.21"), false);
  EXPECT_EQ(in_version_range("0.21", ">=0.16, <=0.21"), true);
  EXPECT_EQ(in_version_range("head", ">=0.16"), std::nullopt);
  EXPECT_EQ(in_version_range("1", "about 2"), std::nullopt);
}

}  // namespace
}  // namespace setpoint::judge
