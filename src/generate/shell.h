// SPDX-License-Identifier: Apache-2.0
// Shell text. One function quotes; no other code puts quotes into a script.
#pragma once

#include <string>
#include <vector>

#include "generate/command.h"

namespace setpoint::generate {

// A literal word in single quotes when it needs them, an expanding one in double quotes with
// everything but its variables escaped.
std::string quoted(const Word& word);
// `NAME=value program argument ..`, one argument group a line with continuation marks, indented.
std::string shell_command(const Command& command, int indent);

}  // namespace setpoint::generate
