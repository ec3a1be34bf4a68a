// SPDX-License-Identifier: Apache-2.0
// Whatever is written is read back by another program's parser (yaml-cpp) as the same value.
#include "generate/yaml.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <random>

namespace setpoint::generate {
namespace {

using base::Json;

// The node as a string, the way a reader without a schema sees it.
void expect_same(const YAML::Node& node, const Json& json, const std::string& text) {
  if (json.is_object()) {
    std::size_t members = 0;
    for (const auto& [key, value] : json.items()) {
      if (value.is_null()) continue;
      ++members;
      ASSERT_TRUE(node[key].IsDefined()) << key << " in\n" << text;
      expect_same(node[key], value, text);
    }
    EXPECT_EQ(node.size(), members) << text;
  } else if (json.is_array()) {
    ASSERT_TRUE(node.IsSequence()) << text;
    ASSERT_EQ(node.size(), json.size()) << text;
    for (std::size_t i = 0; i < json.size(); ++i) expect_same(node[i], json[i], text);
  } else if (json.is_string()) {
    EXPECT_EQ(node.as<std::string>(), json.get<std::string>()) << text;
  } else if (json.is_boolean()) {
    EXPECT_EQ(node.as<bool>(), json.get<bool>()) << text;
  } else {
    EXPECT_DOUBLE_EQ(node.as<double>(), json.get<double>()) << text;
  }
}

TEST(Yaml, ReadsAsADeploymentWouldBeWrittenByHand) {
  const Json document = {
      {"kind", "Deployment"},
      {"spec",
       {{"replicas", 2},
        {"containers", {{{"name", "vllm"}, {"args", {"serve", "--port", "8000"}}}}}}},
      {"paused", false},
      {"empty", Json::object()},
      {"nothing", nullptr}};
  EXPECT_EQ(yaml(document),
            "kind: Deployment\n"
            "spec:\n"
            "  replicas: 2\n"
            "  containers:\n"
            "  - name: vllm\n"
            "    args:\n"
            "    - serve\n"
            "    - --port\n"
            "    - \"8000\"\n"
            "paused: false\n"
            "empty: {}\n");
}

TEST(Yaml, QuotesWhatAnOlderReaderTakesForSomethingElse) {
  for (const char* text :
       {"no",       "Off",        "YES",  "y",    "N",   "true", "null", "~",    "",
        "8000",     "0o7",        "017",  "0x1f", "1e3", ".5",   "-1",   "+1",   "1_000",
        "12:30:45", "2001-12-14", ".inf", "NaN",  "<<",  "=",    "- a",  "a: b", "a #b",
        "#a",       "*a",         "&a",   "!a",   "%a",  "@a",   "`a",   "[a",   "{a",
        "a,b",      "ends:",      " a",   "a ",   "?"}) {
    const std::string out = yaml({{"key", text}});
    EXPECT_EQ(out.substr(0, 6), "key: \"") << out;
    expect_same(YAML::Load(out), {{"key", text}}, out);
  }
}

TEST(Yaml, LeavesNamesPathsUrlsAndFlagsBare) {
  for (const char* text : {"vllm", "Qwen/Qwen3-32B-FP8", "/dev/shm", "--max-num-seqs",
                           "http://a.b:80/c", "nvidia.com/gpu", "k=v"}) {
    EXPECT_EQ(yaml({{"key", text}}), "key: " + std::string(text) + "\n");
  }
}

TEST(Yaml, NullsAreLeftOutAndKeysAreQuotedToo) {
  EXPECT_EQ(yaml({{"on", 1}, {"gone", nullptr}, {"list", {1, nullptr, 2}}}),
            "\"on\": 1\nlist:\n- 1\n- 2\n");
}

TEST(Yaml, NumbersKeepAPointSoThatNoReaderTakesThemForText) {
  EXPECT_EQ(yaml({{"a", 1e-7}, {"b", 0.83}, {"c", 2.0}}), "a: 1.0e-07\nb: 0.83\nc: 2.0\n");
}

TEST(Yaml, LinesOfAFileStandAsABlock) {
  const Json document = {{"data", {{"a.yaml", "x: 1\n\n  y: no\n"}}}, {"after", "end"}};
  const std::string out = yaml(document);
  EXPECT_NE(out.find("a.yaml: |\n    x: 1\n\n      y: no\nafter: end\n"), std::string::npos) << out;
  expect_same(YAML::Load(out), document, out);
}

TEST(Yaml, AnyTextComesBackFromAnotherParser) {
  std::mt19937 random(7);
  const std::vector<std::string> pieces{
      "a",  "B", "7", " ", "\n", "\t", ":", "#",      "-",      "'",    "\"",
      "\\", "{", "}", "[", "]",  ",",  "&", "*",      "!",      "%",    "@",
      "|",  ">", "?", "é", "漢", "\r", "~", "\u2028", "\u0085", "\x01", "🙂"};
  const auto text = [&] {
    std::string out;
    for (auto n = random() % 9; n > 0; --n) out += pieces[random() % pieces.size()];
    return out;
  };
  for (int i = 0; i < 5000; ++i) {
    const Json document = {{"k" + text(), {text(), {{"x", text()}, {"y", {text()}}}, {text()}}},
                           {"z", text()}};
    const std::string out = yaml(document);
    expect_same(YAML::Load(out), document, out);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace setpoint::generate
