// SPDX-License-Identifier: Apache-2.0
// The command line as a function: chooses face and command, parses, runs, prints the error.
#pragma once

#include <string>
#include <vector>

namespace setpoint::cli {

// args[0] is the name the program was called by. Returns the process's exit code (docs/cli.md).
int run(const std::vector<std::string>& args);

}  // namespace setpoint::cli
