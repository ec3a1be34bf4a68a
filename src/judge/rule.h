// SPDX-License-Identifier: Apache-2.0
// The rule language of registers and defects: expressions over what a run really uses, such as
//   fact.weights_loaded && hidden_dropout == 0 || this == base.this
// A rule is parsed once into a flat tree and evaluated over final values in three-valued logic:
// what is not known (a value no reader supplied, a fact nobody computed, `?`) makes a result
// unknown unless it cannot matter, and an unknown result is never a pass. docs/formats/register.md
// has the grammar. Nothing here has side effects, loops, or recursion deeper than kMostDepth.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "recipe/final_values.h"
#include "setpoint/result.h"

namespace setpoint::judge {

enum class Truth : std::uint8_t { no, yes, unknown };

// A name in a rule: where its value is found.
struct RuleName {
  enum class Space : std::uint8_t { parameter, environment, fact, self, defect_matched };
  Space space = Space::parameter;
  bool base = false;         // of the baseline
  std::string name;          // without its prefix; derived.x is a fact named x
  std::string text() const;  // "base.fact.arch"
  bool operator==(const RuleName&) const = default;
};

struct RuleNode {
  enum class Op : std::uint8_t {
    literal,
    name,
    list,
    opaque,
    negate,
    minus,  // one operand
    both,
    either,  // && ||
    equal,
    unequal,
    less,
    at_most,
    more,
    at_least,
    in,
    plus,
    subtract,
    times,
    divide,
    floor_divide,
    modulo,
    set,
    unset,
    changed,
    has,  // of one name
    length,
    choose  // len(x), if(c, a, b)
  };
  Op op = Op::literal;
  base::Json literal;
  std::uint16_t name = 0;               // index into Rule::names
  std::vector<std::uint16_t> operands;  // indices into Rule::nodes; always smaller than one's own
};

class Rule {
 public:
  static constexpr std::size_t kMostBytes = 4096;
  static constexpr int kMostDepth = 64;
  static constexpr int kMostNodes = 1024;

  Rule() : Rule("?") {}  // opaque
  // The error names the place: `column 7: expected a value, found "&&"`.
  static Result<Rule> parse(std::string_view text);
  static Rule opaque(std::string text) { return Rule(std::move(text)); }

  const std::string& text() const { return text_; }
  const std::vector<RuleNode>& nodes() const { return nodes_; }  // the last one is the root
  const std::vector<RuleName>& names() const { return names_; }
  bool is_opaque() const { return nodes_.back().op == RuleNode::Op::opaque; }
  // Replaces the names of parameters: a register knows "x" as "model.x".
  Result<void> resolve(const std::function<Result<RuleName>(const RuleName&)>& resolved);

 private:
  friend class RuleParser;
  explicit Rule(std::string text);
  std::string text_;
  std::vector<RuleNode> nodes_;
  std::vector<RuleName> names_;
};

// How facts that no reader supplied are computed from final values.
using FactRules = std::map<std::string, Rule, std::less<>>;

struct RuleScope {
  const recipe::FinalValues& candidate;
  const recipe::FinalValues& baseline;
  RuleName self;  // what `this` means
  Truth defect_matched = Truth::unknown;
  const FactRules* facts = nullptr;  // may be missing
};

struct RuleAnswer {
  std::optional<base::Json> value;   // nothing: unknown
  std::vector<std::string> unknown;  // the names that made it so
  Truth truth() const;               // none, false, 0, "" and [] are no; all else is yes
};

RuleAnswer evaluate(const Rule& rule, const RuleScope& scope);

// The value of one name: nothing where it is unknown, null where it is known to be unset.
std::optional<base::Json> value_of(const RuleName& name, const RuleScope& scope);
// Typed equality: 1 equals 1.0, "1" does not equal 1, true does not equal 1.
bool same_value(const base::Json& a, const base::Json& b);

}  // namespace setpoint::judge
