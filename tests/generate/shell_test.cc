// SPDX-License-Identifier: Apache-2.0
#include "generate/shell.h"

#include <gtest/gtest.h>

#include <random>

#include "base/process.h"

namespace setpoint::generate {
namespace {

// What bash makes of `script`, its standard output.
std::string bash(const std::string& script) {
  auto ran = base::run_program({"bash", "-c", script});
  EXPECT_TRUE(ran.ok());
  EXPECT_EQ(ran->exit_code, 0) << script;
  return ran->out;
}

std::string random_text(std::mt19937& random) {
  std::string text;
  const auto length = std::uniform_int_distribution<>(0, 12)(random);
  // Half of the bytes from those that shells care about.
  const std::string special = "'\"\\$`!*?[]{}()<>|&;~#=% \t\n\r^-";
  for (int i = 0; i < length; ++i) {
    const auto any = std::uniform_int_distribution<>(1, 255)(random);
    text += any % 2 == 0 ? special[static_cast<std::size_t>(any) % special.size()]
                         : static_cast<char>(any);
  }
  return text;
}

TEST(Quoted, EveryByteOfALiteralWordSurvivesBash) {
  std::mt19937 random(7);
  std::string script = "printf '%s\\0'", expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random_text(random);
    script += " " + quoted({text});
    expected += text + '\0';
  }
  EXPECT_EQ(bash(script), expected);
}

TEST(Quoted, OnlyTheVariablesOfAnExpandingWordExpand) {
  std::mt19937 random(8);
  std::string script = "HEAD_1=10.0.0.1; printf '%s\\0'", expected;
  for (int i = 0; i < 3000; ++i) {
    // No '$', so that nothing but what stands between is a variable.
    std::string left = random_text(random), right = random_text(random);
    std::erase(left, '$');
    std::erase(right, '$');
    script += " " + quoted({left + "${HEAD_1}" + right, true});
    expected += left + "10.0.0.1" + right + '\0';
  }
  EXPECT_EQ(bash(script), expected);
  EXPECT_EQ(bash("A=1; printf %s " + quoted({"$A:$(id)$$ ${A:-x} $1 `id`", true})),
            "1:$(id)$$ ${A:-x} $1 `id`");
}

TEST(Quoted, AVariableThatIsANumberMayBeWrittenAsOne) {
  EXPECT_EQ(quoted({"$((RANK))", true}), "\"$((RANK))\"");
  EXPECT_EQ(quoted({"$((RANK))"}).find("\"$("), std::string::npos);
  EXPECT_EQ(quoted({"$((rm -rf))$A", true}), "\"\\$((rm -rf))$A\"");
}

TEST(Quoted, AWordThatNeedsNoQuotesHasNone) {
  EXPECT_EQ(quoted({"--tensor-parallel-size"}), "--tensor-parallel-size");
  EXPECT_EQ(quoted({"Qwen/Qwen3-32B"}), "Qwen/Qwen3-32B");
  EXPECT_EQ(quoted({"-1"}), "-1");
  EXPECT_EQ(quoted({"--a=b"}), "--a=b");
  EXPECT_EQ(quoted({"127.0.0.1", true}), "127.0.0.1");
  EXPECT_EQ(quoted({"a=b"}), "'a=b'");
  EXPECT_EQ(quoted({""}), "''");
  EXPECT_EQ(quoted({"~"}), "'~'");
  EXPECT_EQ(quoted({"$HOME it's"}), "\"\\$HOME it's\"");
}

TEST(ShellCommand, PutsEachOptionWithItsValuesOnALine) {
  const Command command{.environment = {{"CUDA_VISIBLE_DEVICES", {"0,1"}}},
                        .argv = {{"vllm"},
                                 {"serve"},
                                 {"a model"},
                                 {"--cudagraph-capture-sizes"},
                                 {"1"},
                                 {"2"},
                                 {"--master-addr"},
                                 {"$NODE0_ADDR", true}},
                        .config_yaml = {},
                        .notes = {}};
  EXPECT_EQ(shell_command(command, 2),
            "  CUDA_VISIBLE_DEVICES=0,1 \\\n"
            "    vllm serve 'a model' \\\n"
            "    --cudagraph-capture-sizes 1 2 \\\n"
            "    --master-addr \"$NODE0_ADDR\"");
}

}  // namespace
}  // namespace setpoint::generate
