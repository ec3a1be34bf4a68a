// SPDX-License-Identifier: Apache-2.0
// `estimate --requests`: one answer line for each request line, in order. A bad line is answered
// with an error and the others are still answered. Lines are read and answered one by one, so
// memory does not grow with the file.
#pragma once

#include <istream>
#include <string>

#include "cli/console.h"
#include "setpoint/result.h"

namespace setpoint::cli {

Result<int> answer_lines(const std::string& path, const Console& console);  // "-": standard input

// The next line without its end; of one longer than 1 MiB the rest is read past and dropped, so
// that it is refused as broken JSON. False at the end of the input.
bool next_line(std::istream& in, std::string& line);

}  // namespace setpoint::cli
