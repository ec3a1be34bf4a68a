// SPDX-License-Identifier: Apache-2.0
// A training log as lines: colour codes gone, and the rank that a launcher wrote before a line
// ("[rank0]:", "[default3]:", "0: ") parted from it, so that one rank's output can be followed
// through a file into which all of them write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace setpoint::recipe {

struct LogLine {
  int rank = -1;  // -1: none is written
  std::string text;
};

std::vector<LogLine> log_lines(std::string_view log);
// The lines of that rank from `first` on.
std::vector<std::string> lines_of_rank(const std::vector<LogLine>& lines, std::size_t first);

}  // namespace setpoint::recipe
