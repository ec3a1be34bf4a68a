// SPDX-License-Identifier: Apache-2.0
// Shell text. One function quotes; no other code puts quotes into a script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generate/command.h"

namespace setpoint::generate {

// A literal word in quotes when it needs them, an expanding one in double quotes with everything
// but its variables ($NAME, ${NAME}) escaped. Any byte but NUL survives.
std::string quoted(const Word& word);
// Whether a shell would put something else into an expanding text: it has a variable.
bool has_variable(std::string_view text);
// `NAME=value program argument ..` without a newline at the end: the program with what stands
// before its first option on one line, then each option with its values on a line of its own;
// continuation marks between them, later lines two further in.
std::string shell_command(const Command& command, int indent);
// The same of words alone, all of them on one line.
std::string shell_words(const std::vector<Word>& words);

}  // namespace setpoint::generate
