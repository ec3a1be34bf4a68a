// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "recipe/forms.h"

namespace setpoint::recipe {

Result<void> flatten(const base::Json& json, const std::string& prefix, FinalValues& to) {
  if (json.is_object() && !json.empty()) {
    for (const auto& [key, value] : json.items()) {
      SP_CHECK(flatten(value, prefix.empty() ? key : prefix + "." + key, to));
    }
    return {};
  }
  if (!to.parameters.emplace(prefix, json).second) {
    return Error::bad_input(fmt::format("\"{}\" is stated twice", prefix));
  }
  return {};
}

std::size_t find_line(const std::vector<LogLine>& lines, std::string_view needle,
                      std::size_t first) {
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (lines[i].text.find(needle) != std::string::npos) return i;
  }
  return std::string::npos;
}

Result<base::Json> json_from(const std::vector<LogLine>& lines, std::size_t first,
                             const std::string& what) {
  std::string text;
  int depth = 0;
  bool in_string = false, opened = false;
  for (const std::string& line : lines_of_rank(lines, first)) {
    for (std::size_t i = opened ? 0 : std::min(line.find('{'), line.size()); i < line.size(); ++i) {
      const char c = line[i];
      text += c;
      if (in_string) {
        if (c == '\\' && i + 1 < line.size()) text += line[++i];
        in_string = c != '"';
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{') {
        opened = true;
        ++depth;
      } else if (c == '}' && --depth == 0) {
        return base::parse_json(text, what);
      }
    }
    text += '\n';
  }
  return Error::bad_input(
      fmt::format("{}: line {}: the JSON that opens here does not end", what, first + 1));
}

}  // namespace setpoint::recipe
