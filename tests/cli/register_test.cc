// SPDX-License-Identifier: Apache-2.0
// The register commands on the shipped registers and on files.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.h"

namespace setpoint::cli_test {
namespace {

using Json = nlohmann::json;

TEST(Register, EveryShippedOneHoldsTogether) {
  for (const char* name :
       {"deepspeed", "generic", "megatron-bridge", "megatron-core", "torchtitan"}) {
    const Ran ran = run(std::string("attune register check --json ") + name);
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    const Json json = Json::parse(ran.out);
    EXPECT_EQ(json["problems"], Json::array()) << name;
    EXPECT_EQ(json["sha256"].get<std::string>().size(), 64U);
    EXPECT_GT(json["defects"], 0) << name;
  }
}

TEST(Register, CheckTellsContradictionFromUnreadable) {
  const auto folder = scratch();
  const auto write = [&](const std::string& text) {
    std::ofstream(folder / "r.json") << text;
    return run("attune register check " + (folder / "r.json").string());
  };
  EXPECT_EQ(write("{").code, 2);
  EXPECT_EQ(write("").code, 2);
  EXPECT_EQ(run("attune register check " + (folder / "none.json").string()).code, 3);
  EXPECT_EQ(run("attune register check megatron").code, 2);
  EXPECT_NE(run("attune register check megatron").err.find("megatron-core"), std::string::npos);
  std::string shipped = slurp(SETPOINT_SOURCE_DIR "/registers/generic.json");
  const std::string word = "\"layout-only\"";
  shipped.replace(shipped.find(word), word.size(), "\"layout\"");
  const Ran ran = write(shipped);
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("problem: "), std::string::npos);
  EXPECT_EQ(lines(ran.out), 1U);
}

TEST(Register, ShowFitsTheScreen) {
  const Ran ran = run("attune register show megatron-core", "COLUMNS=100");
  EXPECT_EQ(ran.code, 0);
  std::istringstream text(ran.out);
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 100U) << line;
  const Ran one =
      run("attune register show megatron-bridge model.tensor_model_parallel_size --json");
  const Json json = Json::parse(one.out);
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["name"], "model.tensor_model_parallel_size");
  EXPECT_EQ(json[0]["class"], "conditional");
  const Ran wrong = run("attune register show megatron-core tensor_model_paralel_size");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("tensor_model_parallel_size"), std::string::npos);
}

TEST(Register, DiffListsWhatNobodyHasJudged) {
  const auto folder = scratch();
  std::string text = slurp(SETPOINT_SOURCE_DIR "/registers/generic.json");
  const std::string name = "\"name\": \"weight_decay\"";
  text.replace(text.find(name), name.size(), "\"name\": \"new_option\"");
  std::ofstream(folder / "new.json") << text;
  const Ran ran = run("attune register diff generic " + (folder / "new.json").string() + " --json");
  EXPECT_EQ(ran.code, 1);
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["added_unjudged"], Json::array({"new_option"}));
  EXPECT_EQ(json["removed"], Json::array({"weight_decay"}));
  EXPECT_EQ(run("attune register diff generic generic").code, 0);
}

}  // namespace
}  // namespace setpoint::cli_test
