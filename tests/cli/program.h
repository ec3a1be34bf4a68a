// SPDX-License-Identifier: Apache-2.0
// Runs the built program as a user's shell would: standard output and error apart, exit code.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace setpoint::cli_test {

struct Ran {
  int code = -1;
  std::string out, err;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A folder of this test's own, empty.
inline std::filesystem::path scratch() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = std::filesystem::temp_directory_path() /
                      (std::string("setpoint_cli_") + test->test_suite_name() + "_" + test->name());
  std::filesystem::create_directories(folder);
  return folder;
}

// `line` as typed after the folder of the binaries: "aiconf search --help". `environment` is put in
// front: "NO_COLOR=1".
inline Ran run(const std::string& line, const std::string& environment = "") {
  const auto folder = scratch();
  const std::string command = environment + " " SETPOINT_BINARY_DIR "/bin/" + line + " >" +
                              (folder / "out").string() + " 2>" + (folder / "err").string() +
                              " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(folder / "out"),
          slurp(folder / "err")};
}

inline std::size_t lines(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += c == '\n' ? 1 : 0;
  return count;
}

}  // namespace setpoint::cli_test
