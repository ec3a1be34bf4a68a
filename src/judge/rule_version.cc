// SPDX-License-Identifier: Apache-2.0
#include "judge/rule_version.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace setpoint::judge {
namespace {

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

void take_separator(std::string_view& text) {
  if (!text.empty() && (text[0] == '.' || text[0] == '-' || text[0] == '_')) text.remove_prefix(1);
}

// At most twelve digits (20260813 is a usual one), so that the number always fits.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] >= '0' && text[length] <= '9') ++length;
  if (length == 0 || length > 12) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + length, value);
  text.remove_prefix(length);
  return value;
}

// "rc1", ".post2", ".dev": after an optional separator; a missing number is 0.
std::optional<std::int64_t> take_part(std::string_view& text, std::string_view word) {
  std::string_view rest = text;
  take_separator(rest);
  if (!take(rest, word)) return std::nullopt;
  take_separator(rest);
  const auto number = take_number(rest);
  text = rest;
  return number.value_or(0);
}

constexpr std::array<std::pair<std::string_view, int>, 8> kPreWords{{{"alpha", 0},
                                                                     {"beta", 1},
                                                                     {"preview", 2},
                                                                     {"pre", 2},
                                                                     {"rc", 2},
                                                                     {"a", 0},
                                                                     {"b", 1},
                                                                     {"c", 2}}};

bool take_release(std::string_view& text, PythonVersion& version) {
  for (;;) {
    const auto number = take_number(text);
    if (!number) return false;
    version.release.push_back(*number);
    const bool more = text.size() > 1 && text[0] == '.' && text[1] >= '0' && text[1] <= '9';
    if (!more) break;
    text.remove_prefix(1);
  }
  while (version.release.size() > 1 && version.release.back() == 0) version.release.pop_back();
  return true;
}

void take_pre(std::string_view& text, PythonVersion& version) {
  version.pre_kind = 3;
  for (const auto& [word, kind] : kPreWords) {
    const auto number = take_part(text, word);
    if (!number) continue;
    version.pre_kind = kind;
    version.pre = *number;
    return;
  }
}

bool is_local(std::string_view text) {
  for (const char c : text) {
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '.' && c != '-' && c != '_') {
      return false;
    }
  }
  return !text.empty();
}

}  // namespace

std::optional<PythonVersion> parse_python_version(std::string_view text) {
  const std::string lower = base::lower(text);
  std::string_view rest = lower;
  take(rest, "v");
  PythonVersion version;
  if (const auto mark = rest.find('!'); mark != std::string_view::npos) {
    const auto epoch = take_number(rest);
    if (!epoch || !take(rest, "!")) return std::nullopt;
    version.epoch = *epoch;
  }
  if (!take_release(rest, version)) return std::nullopt;
  take_pre(rest, version);
  if (const auto post = take_part(rest, "post")) version.post = *post;
  if (const auto dev = take_part(rest, "dev")) version.dev = *dev;
  const bool only_dev = version.pre_kind == 3 && version.post < 0;
  if (only_dev && version.dev != PythonVersion::kNoDev) version.pre_kind = -1;
  if (take(rest, "+")) {
    if (!is_local(rest)) return std::nullopt;
    version.local = rest;
    rest = {};
  }
  if (!rest.empty()) return std::nullopt;
  return version;
}

std::optional<bool> in_version_range(std::string_view version, std::string_view range) {
  const auto found = parse_python_version(version);
  if (!found) return std::nullopt;
  bool inside = true;
  while (!range.empty()) {
    const auto comma = range.find(',');
    std::string_view part = range.substr(0, comma);
    range = comma == std::string_view::npos ? std::string_view{} : range.substr(comma + 1);
    while (part.starts_with(' ')) part.remove_prefix(1);
    const bool less = part.starts_with('<');
    if (part.empty() || (!less && !part.starts_with('>'))) return std::nullopt;
    part.remove_prefix(1);
    const bool equal = take(part, "=");
    const auto bound = parse_python_version(part);
    if (!bound) return std::nullopt;
    const auto order = *found <=> *bound;
    inside =
        inside && (less ? order < 0 || (equal && order == 0) : order > 0 || (equal && order == 0));
  }
  return inside;
}

}  // namespace setpoint::judge
