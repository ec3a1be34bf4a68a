// SPDX-License-Identifier: Apache-2.0
// The frame that every command stands in: faces, help, errors, exit codes, what goes where.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/command.h"
#include "cli/program.h"

namespace setpoint::cli_test {
namespace {

TEST(Frame, OneBinaryHasTheSameFacesByLinkAndByFirstArgument) {
  const Ran by_link = run("aiconf systems");
  const Ran by_word = run("setpoint aiconf systems");
  EXPECT_EQ(by_link.code, 0) << by_link.err;
  EXPECT_EQ(by_link.out, by_word.out);
  EXPECT_NE(by_link.out.find("h200_sxm"), std::string::npos);
}

TEST(Frame, EveryCommandHasHelpWithAnExampleThatFitsTheTerminal) {
  for (const cli::Command& command : cli::commands()) {
    const std::string name(command.name);
    const std::string face(cli::kFaces[static_cast<std::size_t>(command.face)].name);
    const Ran ran = run(face + " " + name + " --help");
    EXPECT_EQ(ran.code, 0) << name;
    EXPECT_EQ(ran.err, "") << name;
    EXPECT_NE(ran.out.find("Example:"), std::string::npos) << name;
    for (const char* flag : {"--json", "--quiet", "--verbose", "--help"}) {
      EXPECT_NE(ran.out.find(flag), std::string::npos) << name << " " << flag;
    }
    std::istringstream text(ran.out);
    for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(Frame, FaceHelpListsEveryCommand) {
  for (const cli::FaceInfo& face : cli::kFaces) {
    const Ran ran = run(std::string(face.name) + " --help");
    EXPECT_EQ(ran.code, 0);
    for (const cli::Command& command : cli::commands()) {
      const bool listed =
          ran.out.find("\n  " + std::string(command.name) + " ") != std::string::npos;
      EXPECT_EQ(listed, command.face == face.face) << face.name << " " << command.name;
    }
  }
}

struct Wrong {
  const char* line;
  const char* says;
};

TEST(Frame, WhatIsWrongIsOneLineWithTheNearestNameAndExitCode2) {
  const std::vector<Wrong> cases{
      {"aiconf sistems", "nearest known: systems"},
      {"aiconf systems --jsom", "nearest known: --json"},
      {"aiconf systems extra", "unexpected argument \"extra\""},
      {"aiconf completion", "shell is required"},
      {"aiconf completion bsh", "nearest known: bash"},
      {"setpoint aicnf", "nearest known: aiconf"},
      {"setpoint systems", "setpoint aiconf systems"},
      {"attune registre x.yaml", "unknown command \"registre\""},
      {"attune ledgr verify", "nearest known: ledger"},
  };
  for (const Wrong& wrong : cases) {
    const Ran ran = run(wrong.line);
    EXPECT_EQ(ran.code, 2) << wrong.line;
    EXPECT_EQ(ran.out, "") << wrong.line;
    EXPECT_EQ(lines(ran.err), 1u) << wrong.line << ": " << ran.err;
    EXPECT_NE(ran.err.find(wrong.says), std::string::npos) << wrong.line << ": " << ran.err;
  }
}

TEST(Frame, AnErrorStaysOneLineWhateverItRepeats) {
  const Ran ran = run("aiconf \"$(printf 'a\\nb\\033[31m')\"");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(lines(ran.err), 1u);
  EXPECT_EQ(ran.err.find('\033'), std::string::npos);
}

TEST(Frame, AFullDiskIsAFailureOfTheEnvironment) {
  const std::string command = SETPOINT_BINARY_DIR "/bin/aiconf systems >/dev/full 2>/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 3);
}

TEST(Frame, JsonIsOneDocumentAndNothingElse) {
  const Ran ran = run("aiconf systems --json -v");
  const auto parsed = nlohmann::json::parse(ran.out);
  ASSERT_GE(parsed["systems"].size(), 14u);
}

TEST(Frame, ListsFitTheTerminal) {
  for (const char* list : {"aiconf systems", "aiconf models", "aiconf --help"}) {
    for (const std::size_t columns : {80u, 100u}) {
      std::istringstream text(run(list, "COLUMNS=" + std::to_string(columns)).out);
      for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), columns) << line;
    }
  }
}

TEST(Frame, ModelsListEveryShippedDescription) {
  const auto models = nlohmann::json::parse(run("aiconf models --json").out)["models"];
  EXPECT_GE(models.size(), 30u);
  for (const auto& model : models) EXPECT_GT(model["parameters"].get<double>(), 1e8) << model["id"];
}

TEST(Frame, TheVersionIsTheProjects) {
  EXPECT_EQ(run("setpoint --version").out, "setpoint 0.1.0\n");
  EXPECT_EQ(run("aiconf --version").out, "setpoint 0.1.0\n");
}

TEST(Frame, NoArgumentsShowHelpAndFail) {
  for (const char* program : {"setpoint", "aiconf"}) {
    const Ran ran = run(program);
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.out.find("Usage:"), std::string::npos);
  }
}

}  // namespace
}  // namespace setpoint::cli_test
