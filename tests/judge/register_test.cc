// SPDX-License-Identifier: Apache-2.0
#include "judge/register.h"

#include <gtest/gtest.h>

#include <string>

namespace setpoint::judge {
namespace {

const std::string kFacts = R"({"name": "weights_loaded", "how": "the reader saw a checkpoint load"},
  {"name": "no_dropout", "how": "both rates are 0", "value": "model.hidden_dropout == 0"})";

std::string entry(const std::string& name, const std::string& rest) {
  return R"({"name": ")" + name +
         R"(", "type": "int", "where": "a.py:A", "reason": "because", )"
         R"("doc": "what", "judged": "curated", "confidence": "high", )" +
         rest + "}";
}

std::string file(const std::string& parameters, const std::string& effects = "",
                 const std::string& environment = "") {
  return R"({"schema": "setpoint-register/1", "framework": "toy", "version": "1.0",
    "source_revision": "abc", "version_range": ">=1.0,<2", "facts": [)" +
         kFacts + R"(], "parameters": [)" + parameters + R"(], "environment": [)" + environment +
         R"(], "side_effects": [)" + effects + "]}";
}

std::string error_of(const std::string& text) {
  const auto read = parse_register(text, "toy.json");
  return read ? "read" : read.error().text;
}

const std::string kToy =
    entry("model.hidden_dropout", R"("class": "changes-what-is-trained", "facet": "loss")") + ", " +
    entry(
        "model.tp",
        R"("class": "conditional", "pass_if": "fact.weights_loaded && !defect_matched", "aliases": ["tp_size"])") +
    ", " + entry("model.overlap", R"("class": "layout-only")") + ", " +
    entry("train.log", R"("class": "neutral")") + ", " +
    entry("train.nan_checks", R"("class": "changes-the-measurement")") + ", " +
    entry("model.beam", R"("class": "other-mode")");

Judgement judge(const std::string& parameters, const std::string& name,
                recipe::FinalValues candidate = {}, Truth defect = Truth::no) {
  const auto by = parse_register(file(parameters), "toy.json");
  EXPECT_TRUE(by) << (by ? "" : by.error().text);
  static Register kept;
  kept = *by;
  return judge_change(kept, {RuleName::Space::parameter, false, name}, candidate, {}, defect);
}

TEST(Register, JudgesByClass) {
  EXPECT_EQ(judge(kToy, "model.hidden_dropout").verdict, Verdict::reject);
  EXPECT_EQ(judge(kToy, "model.hidden_dropout").reason, "changes what is trained (loss): because");
  EXPECT_EQ(judge(kToy, "model.overlap").verdict, Verdict::pass);
  EXPECT_EQ(judge(kToy, "train.log").verdict, Verdict::pass);
  EXPECT_EQ(judge(kToy, "train.nan_checks").verdict, Verdict::reject);
  EXPECT_EQ(judge(kToy, "model.beam").verdict, Verdict::unknown);
  EXPECT_EQ(judge(kToy, "model.never_heard").verdict, Verdict::unknown);
  EXPECT_EQ(judge(kToy, "model.never_heard").entry, nullptr);
}

TEST(Register, NoValueIsLostWhereSeveralNamesOfOneParameterStand) {
  const auto by = parse_register(
      file(entry("model.tp", R"("class": "layout-only", "aliases": ["tp_size", "tensor"])")),
      "toy.json");
  ASSERT_TRUE(by) << by.error().text;
  recipe::FinalValues values;
  values.parameters = {{"tensor", 2}, {"tp_size", 4}};
  const auto two = canonical_names(*by, values).parameters;
  EXPECT_EQ(two, (std::map<std::string, base::Json>{{"model.tp", 2}, {"tp_size", 4}}));
  values.parameters = {{"model.tp", 8}, {"tensor", 2}};
  EXPECT_EQ(canonical_names(*by, values).parameters, values.parameters);
}

TEST(Register, PassesAConditionalChangeOnlyWhereItsRuleHolds) {
  recipe::FinalValues loaded, random;
  loaded.facts["weights_loaded"] = true;
  random.facts["weights_loaded"] = false;
  EXPECT_EQ(judge(kToy, "model.tp", loaded).verdict, Verdict::pass);
  EXPECT_EQ(judge(kToy, "tp_size", loaded).verdict, Verdict::pass);
  EXPECT_EQ(judge(kToy, "model.tp", random).verdict, Verdict::reject);
  EXPECT_EQ(judge(kToy, "model.tp", {}).verdict, Verdict::unknown);
  EXPECT_EQ(judge(kToy, "model.tp", {}).unknown, std::vector<std::string>{"fact.weights_loaded"});
  EXPECT_EQ(judge(kToy, "model.tp", loaded, Truth::unknown).verdict, Verdict::unknown);
  EXPECT_EQ(judge(kToy, "model.tp", loaded, Truth::yes).verdict, Verdict::reject);
}

TEST(Register, LetsNothingPassThatNobodyJudged) {
  const auto with = [](const std::string& judged, const std::string& confidence,
                       const std::string& rest) {
    return R"({"name": "x", "type": "int", "where": "a", "reason": "r", "doc": "d", "judged": ")" +
           judged + R"(", "confidence": ")" + confidence + R"(", )" + rest + "}";
  };
  EXPECT_EQ(judge(with("by-name", "high", R"("class": "layout-only")"), "x").verdict,
            Verdict::unknown);
  EXPECT_EQ(judge(with("by-name", "medium", R"("class": "neutral")"), "x").verdict,
            Verdict::unknown);
  EXPECT_EQ(judge(with("by-name", "low", R"("class": "changes-the-measurement")"), "x").verdict,
            Verdict::unknown);
  EXPECT_EQ(judge(with("curated", "low", R"("class": "layout-only")"), "x").verdict,
            Verdict::unknown);
  EXPECT_EQ(judge(with("curated", "medium", R"("class": "layout-only")"), "x").verdict,
            Verdict::pass);
  EXPECT_EQ(
      judge(with("by-name", "low", R"("class": "changes-what-is-trained", "facet": "data")"), "x")
          .verdict,
      Verdict::reject);
}

TEST(Register, LetsNothingPassOutsideItsVersions) {
  recipe::FinalValues values;
  values.version = "1.5";
  EXPECT_EQ(judge(kToy, "model.overlap", values).verdict, Verdict::pass);
  values.version = "2.0";
  EXPECT_EQ(judge(kToy, "model.overlap", values).verdict, Verdict::unknown);
  EXPECT_EQ(judge(kToy, "model.hidden_dropout", values).verdict, Verdict::reject);
}

TEST(Register, ResolvesTheLastPartOfANameThatIsTheOnlyOne) {
  const auto by = parse_register(file(kToy), "toy.json");
  ASSERT_TRUE(by);
  EXPECT_EQ(by->resolve({RuleName::Space::parameter, true, "tp"})->name, "model.tp");
  EXPECT_EQ(by->resolve({RuleName::Space::parameter, false, "tp_size"})->name, "model.tp");
  EXPECT_EQ(by->resolve({RuleName::Space::parameter, false, "no_dropout"})->text(),
            "fact.no_dropout");
  EXPECT_EQ(by->resolve({RuleName::Space::parameter, false, "unheard"})->name, "unheard");
  const std::string twice = entry("model.a", R"("class": "layout-only")") + "," +
                            entry("ddp.a", R"("class": "conditional", "pass_if": "a == 1")");
  EXPECT_EQ(
      error_of(file(twice)),
      "toy.json: ddp.a: rule \"a == 1\": a may be any of ddp.a, model.a: write the whole name");
}

TEST(Register, RefusesContradictionsAndDuplicates) {
  EXPECT_EQ(error_of(file(entry("a", R"("class": "layout-only")") + "," +
                          entry("a", R"("class": "layout-only")"))),
            "toy.json: a stands twice, from a.py:A");
  EXPECT_EQ(error_of(file(entry("a", R"("class": "layout-only")") + "," +
                          entry("a", R"("class": "neutral", "line": 7)"))),
            "toy.json: a is judged in two ways: layout-only (a.py:A) and neutral (a.py:A:7)");
  EXPECT_EQ(error_of(file(entry("a", R"("class": "layout-only")") + "," +
                          entry("a", R"("class": "layout-only", "line": 7)"))),
            "read");
  EXPECT_EQ(error_of(file(entry("a", R"("class": "layout-only")") + "," +
                          entry("b", R"("class": "layout-only", "aliases": ["a"])"))),
            "toy.json: a is an alias of b and names a");
}

TEST(Register, RefusesWhatItDoesNotKnowInOneLine) {
  const auto one = [](const std::string& rest) { return error_of(file(entry("a", rest))); };
  EXPECT_EQ(one(R"("class": "layout")"),
            "toy.json.parameters[0] (\"a\"): class \"layout\" is none of: changes-what-is-trained, "
            "layout-only, conditional, changes-the-measurement, neutral, other-mode");
  EXPECT_EQ(one(R"("class": "changes-what-is-trained", "facet": "speed")"),
            "toy.json.parameters[0] (\"a\"): facet \"speed\" is none of: data, batch, optimizer, "
            "loss, routing, precision, model, init");
  EXPECT_EQ(
      one(R"("class": "changes-what-is-trained")"),
      "toy.json.parameters[0] (\"a\"): facet belongs to changes-what-is-trained, and only there");
  EXPECT_EQ(one(R"("class": "conditional")"),
            "toy.json.parameters[0] (\"a\"): conditional, but without pass_if");
  EXPECT_EQ(one(R"("class": "neutral", "pass_if": "true")"),
            "toy.json.parameters[0] (\"a\"): pass_if belongs to conditional and layout-only");
  EXPECT_EQ(one(R"("class": "conditional", "pass_if": "a ==")"),
            "toy.json.parameters[0] (\"a\"): pass_if \"a ==\": column 5: expected a value, found "
            "the end");
  EXPECT_EQ(one(R"("class": "conditional", "pass_if": "fact.moon")"),
            "toy.json: a: rule \"fact.moon\": fact.moon is not in the table of facts");
  EXPECT_NE(one(R"("class": "neutral", "colour": 1)").find("colour"), std::string::npos);
  EXPECT_EQ(error_of(file(R"({"name": "a"})")),
            "toy.json.parameters[0] (\"a\"): \"type\" is missing");
  EXPECT_EQ(error_of("{}"), "toy.json: \"schema\" is missing");
  EXPECT_NE(error_of(file("7")).find("expected an object"), std::string::npos);
}

TEST(Register, RefusesHostileFilesInOneLine) {
  for (const std::string& text :
       {std::string("\xff\xfe{"), std::string(100'000, '['), std::string("{\"a\": \"\xff\"}"),
        std::string(100 << 20, ' '), std::string("null"), std::string()}) {
    const auto read = parse_register(text, "toy.json");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().text.find('\n'), std::string::npos);
    EXPECT_EQ(read.error().code, ErrorCode::bad_input);
  }
}

TEST(Register, GivesParametersTheirOwnNames) {
  const auto by = parse_register(file(kToy), "toy.json");
  recipe::FinalValues values;
  values.parameters = {{"tp_size", 4}, {"other", 1}};
  EXPECT_EQ(canonical_names(*by, values).parameters,
            (std::map<std::string, base::Json>{{"model.tp", 4}, {"other", 1}}));
  values.parameters = {{"tp_size", 4}, {"model.tp", 2}};
  EXPECT_EQ(canonical_names(*by, values).parameters, values.parameters);
}

}  // namespace
}  // namespace setpoint::judge
