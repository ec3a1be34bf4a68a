// SPDX-License-Identifier: Apache-2.0
#include "recipe/python_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace setpoint::recipe {
namespace {

using base::Json;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

template <class Number>
std::optional<Number> whole_text(std::string_view text) {
  Number value{};
  const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (at != text.data() + text.size() || code != std::errc()) return std::nullopt;
  return value;
}

std::string without_address(std::string_view text) {
  constexpr std::string_view kMark = " at 0x";
  std::string out;
  for (std::size_t mark = 0; (mark = text.find(kMark)) != std::string_view::npos;) {
    out += text.substr(0, mark);
    text.remove_prefix(std::min(
        text.find_first_not_of("0123456789abcdefABCDEF", mark + kMark.size()), text.size()));
  }
  return out += text;
}

Json bare(std::string_view text) {
  if (text == "None") return nullptr;
  if (text == "True" || text == "False") return text == "True";
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  if (const auto whole = whole_text<std::int64_t>(digits)) return *whole;
  const auto number = whole_text<double>(digits);
  if (number && std::isfinite(*number)) return *number;
  return without_address(text);
}

// The text of a Python container as the JSON text of it: quotes and brackets changed, bare words
// read each by itself. "<AttnBackend.auto: 5>" is one word.
std::string as_json(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\'' || c == '"') {
      std::string word;
      for (++at; at < text.size() && text[at] != c; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        word += text[at];
      }
      ++at;
      out += base::json_text(word);
    } else if (std::string_view(" ,:[]{}()").find(c) != std::string_view::npos) {
      const bool closes = c == ')' || c == ']' || c == '}';  // "(1,)" has a comma too many
      if (closes && out.ends_with(',')) out.pop_back();
      if (c != ' ') out += c == '(' ? '[' : c == ')' ? ']' : c;
      ++at;
    } else {
      std::size_t end = text.find_first_of(c == '<' ? ">" : ",:]})", at);
      end = std::min(c == '<' && end != std::string_view::npos ? end + 1 : end, text.size());
      out += base::json_text(bare(trimmed(text.substr(at, end - at))));
      at = end;
    }
  }
  return out;
}

}  // namespace

Json python_value(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && std::string_view("[({").find(text[0]) != std::string_view::npos) {
    if (auto value = base::parse_json(as_json(text), "value"); value.ok()) return *value;
  }
  return bare(text);
}

}  // namespace setpoint::recipe
