// SPDX-License-Identifier: Apache-2.0
#include "recipe/log_lines.h"

#include <array>
#include <cctype>

namespace setpoint::recipe {
namespace {

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Without "ESC [ ... letter" (ECMA-48 control sequences: colours) and a carriage return at the end.
std::string plain(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      for (i += 2; i < line.size() && (line[i] < '@' || line[i] > '~');) ++i;
    } else {
      out += line[i];
    }
  }
  if (!out.empty() && out.back() == '\r') out.pop_back();
  return out;
}

// "[rank0]:" and "[default0]:" (torchrun), "0: " (srun -l). The text after it keeps its blanks but
// the one that belongs to srun's mark.
LogLine parted(std::string line) {
  constexpr int kMostDigits = 7;
  constexpr std::array<std::string_view, 3> kOpenings{"[rank", "[default", ""};
  for (const std::string_view opening : kOpenings) {
    if (!line.starts_with(opening)) continue;
    std::size_t at = opening.size();
    while (at < line.size() && digit(line[at])) ++at;
    const std::size_t digits = at - opening.size();
    const std::string_view close = opening.empty() ? ": " : "]:";
    if (digits == 0 || digits > kMostDigits || line.compare(at, close.size(), close) != 0) continue;
    const int rank = std::stoi(line.substr(opening.size(), digits));
    return {rank, line.substr(at + close.size())};
  }
  return {-1, std::move(line)};
}

}  // namespace

std::vector<LogLine> log_lines(std::string_view log) {
  std::vector<LogLine> out;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    out.push_back(parted(plain(log.substr(0, end))));
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return out;
}

std::vector<std::string> lines_of_rank(const std::vector<LogLine>& lines, std::size_t first) {
  std::vector<std::string> out;
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (lines[i].rank == lines[first].rank) out.push_back(lines[i].text);
  }
  return out;
}

}  // namespace setpoint::recipe
