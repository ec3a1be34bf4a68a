// SPDX-License-Identifier: Apache-2.0
#include "generate/shell.h"

namespace setpoint::generate {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kDigits = "0123456789";
// Beside letters and digits: what no shell treats specially anywhere in an argument.
constexpr std::string_view kPlain = "_@%+:,./-";

bool in(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }
bool name_start(char c) { return c == '_' || in(kLetters, c); }
bool name_part(char c) { return name_start(c) || in(kDigits, c); }

std::size_t name_length(std::string_view text) {
  if (text.empty() || !name_start(text[0])) return 0;
  std::size_t end = 1;
  while (end < text.size() && name_part(text[end])) ++end;
  return end;
}

// Length of "$((NAME))" at the start of `text`, a variable that is a number; 0 when it is not
// there.
std::size_t number_at(std::string_view text) {
  constexpr std::string_view kOpen = "$((", kClose = "))";
  if (!text.starts_with(kOpen)) return 0;
  const std::size_t name = name_length(text.substr(kOpen.size()));
  if (name == 0 || !text.substr(kOpen.size() + name).starts_with(kClose)) return 0;
  return kOpen.size() + name + kClose.size();
}

// Length of the variable at the start of `text` ("$NAME", "${NAME}", "$((NAME))"), 0 when there is
// none.
std::size_t variable_at(std::string_view text) {
  if (const std::size_t number = number_at(text); number > 0) return number;
  if (text.size() < 2 || text[0] != '$') return 0;
  const bool braces = text[1] == '{';
  std::size_t end = braces ? 2 : 1;
  if (end == text.size() || !name_start(text[end])) return 0;
  while (end < text.size() && name_part(text[end])) ++end;
  if (!braces) return end;
  return end < text.size() && text[end] == '}' ? end + 1 : 0;
}

// `A=b` is an argument in most places and an assignment in others; `--a=b` never is one.
bool plain(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (!in(kLetters, c) && !in(kDigits, c) && !in(kPlain, c) && !(c == '=' && text[0] == '-')) {
      return false;
    }
  }
  return true;
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string double_quoted(std::string_view text, bool expands) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t variable = expands ? variable_at(text.substr(i)) : 0;
    if (variable == 0 && in("\"\\`$", text[i])) out += '\\';
    const std::size_t length = variable == 0 ? 1 : variable;
    out += text.substr(i, length);
    i += length;
  }
  return out + "\"";
}

}  // namespace

std::string quoted(const Word& word) {
  if (word.expands && has_variable(word.text)) return double_quoted(word.text, true);
  if (plain(word.text)) return word.text;
  // A '$' between single quotes reads like a mistake, to people and to shellcheck.
  const bool dollar = word.text.find_first_of("$`") != std::string::npos;
  return dollar ? double_quoted(word.text, false) : single_quoted(word.text);
}

bool has_variable(std::string_view text) {
  for (std::size_t i = text.find('$'); i != std::string_view::npos; i = text.find('$', i + 1)) {
    if (variable_at(text.substr(i)) != 0) return true;
  }
  return false;
}

std::string shell_words(const std::vector<Word>& words) {
  std::string out;
  for (const Word& word : words) out += (out.empty() ? "" : " ") + quoted(word);
  return out;
}

std::string shell_command(const Command& command, int indent) {
  const std::string first(static_cast<std::size_t>(indent), ' ');
  const std::string next = " \\\n" + first + "  ";
  std::string out = first;
  for (const Variable& variable : command.environment) {
    out += variable.name + "=" + quoted(variable.value) + next;
  }
  for (std::size_t i = 0; i < command.argv.size(); ++i) {
    const Word& word = command.argv[i];
    if (i > 0) out += word.text.starts_with("--") ? next : " ";
    out += quoted(word);
  }
  return out;
}

}  // namespace setpoint::generate
