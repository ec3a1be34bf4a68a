// SPDX-License-Identifier: Apache-2.0
#include "judge/rule_lexer.h"

#include <fmt/format.h>

#include <array>

#include "base/fields.h"

namespace setpoint::judge {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Longer ones first.
constexpr std::array<std::string_view, 21> kSymbols{"&&", "||", "==", "!=", "<=", ">=", "//",
                                                    "!",  "<",  ">",  "+",  "-",  "*",  "/",
                                                    "%",  "(",  ")",  "[",  "]",  ",",  "."};
constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

}  // namespace

// 12, 1.5, 1e-5. A sign is an operator.
void RuleLexer::number_token(RuleToken& token) {
  token.kind = RuleToken::Kind::number;
  const std::size_t start = at_;
  const auto digits = [&] {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  digits();
  if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
    ++at_;
    digits();
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    std::size_t sign = at_ + 1;
    if (sign < text_.size() && (text_[sign] == '-' || text_[sign] == '+')) ++sign;
    if (sign < text_.size() && is_digit(text_[sign])) {
      at_ = sign;
      digits();
    }
  }
  token.text = text_.substr(start, at_ - start);
}

// "..." with \" and \\ as the only escapes.
Result<RuleToken> RuleLexer::text_token(RuleToken token) {
  token.kind = RuleToken::Kind::text;
  for (++at_; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '"') {
      ++at_;
      return token;
    }
    if (c == '\\') {
      c = ++at_ < text_.size() ? text_[at_] : '\0';
      if (c != '"' && c != '\\') {
        return Error::bad_input(
            fmt::format(R"(column {}: only \" and \\ may follow a backslash)", at_));
      }
    }
    token.text += c;
  }
  return Error::bad_input(fmt::format("column {}: the string has no end", token.column));
}

Result<RuleToken> RuleLexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  RuleToken token;
  token.column = at_ + 1;
  if (at_ == text_.size()) return token;
  const char c = text_[at_];
  if (c == '"') return text_token(std::move(token));
  if (is_digit(c)) {
    number_token(token);
    return token;
  }
  if (is_letter(c)) {
    token.kind = RuleToken::Kind::name;
    while (at_ < text_.size()) {
      const bool dot = text_[at_] == '.' && at_ + 1 < text_.size() && is_letter(text_[at_ + 1]);
      if (!dot && !is_letter(text_[at_]) && !is_digit(text_[at_])) break;
      token.text += text_[at_++];
    }
    return token;
  }
  for (const std::string_view mark : {std::string_view("?"), kEllipsis}) {
    if (!text_.substr(at_).starts_with(mark)) continue;
    at_ += mark.size();
    token.kind = RuleToken::Kind::opaque;
    token.text = mark;
    return token;
  }
  for (const std::string_view symbol : kSymbols) {
    if (!text_.substr(at_).starts_with(symbol)) continue;
    at_ += symbol.size();
    token.kind = RuleToken::Kind::symbol;
    token.text = symbol;
    return token;
  }
  return Error::bad_input(fmt::format("column {}: {} does not belong into a rule", token.column,
                                      base::shown(text_.substr(at_, 1))));
}

}  // namespace setpoint::judge
