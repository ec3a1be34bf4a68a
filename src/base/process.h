// SPDX-License-Identifier: Apache-2.0
// Another program, run to its end. No shell is involved: arguments are passed as they are.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "setpoint/result.h"

namespace setpoint::base {

struct Ran {
  int exit_code = 0;  // 128 + signal when a signal ended it
  std::string out;    // its standard output
};

// Waits for it; its standard error is ours. While it runs, Ctrl-C reaches it and not us, so that it
// can clean up. An error only when it cannot be started. Output beyond `most_bytes` is not read:
// the program then ends by SIGPIPE, which its exit code says.
Result<Ran> run_program(const std::vector<std::string>& arguments,
                        std::size_t most_bytes = std::size_t{1} << 30);

// A program that goes on by itself, as the leader of a process group of its own, so that it and
// whatever it starts can be ended together; it lives on when we die.
struct Start {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // all of it
  std::filesystem::path folder;                    // where it runs
  std::filesystem::path output;                    // of both streams, made or appended to
};
Result<int> start_group(const Start& start);  // the group's number
bool group_alive(int group);                  // also collects it when it is our child and over
void kill_group(int group);

}  // namespace setpoint::base
