// SPDX-License-Identifier: Apache-2.0
// The words of a rule's text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "setpoint/result.h"

namespace setpoint::judge {

struct RuleToken {
  enum class Kind : std::uint8_t { end, number, text, name, symbol, opaque };
  Kind kind = Kind::end;
  std::string text;        // of a string without its quotes and escapes
  std::size_t column = 1;  // from 1
};

// Names may have dots ("model.hidden_size"); symbols are the operators and ( ) [ ] ,
class RuleLexer {
 public:
  explicit RuleLexer(std::string_view text) : text_(text) {}
  Result<RuleToken> next();

 private:
  Result<RuleToken> text_token(RuleToken token);
  void number_token(RuleToken& token);
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace setpoint::judge
