// SPDX-License-Identifier: Apache-2.0
// Precedence climbing over the lexer's words. Nodes are appended when their operands stand, so the
// tree is flat and evaluation is one pass; nesting is counted, chains are loops.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/fields.h"
#include "base/text.h"
#include "judge/rule.h"
#include "judge/rule_lexer.h"

namespace setpoint::judge {
namespace {

using Op = RuleNode::Op;
using Kind = RuleToken::Kind;
using Index = std::uint16_t;

struct Operator {
  std::string_view symbol;
  Op op;
  int precedence;
};
constexpr int kComparison = 3;
constexpr int kTightest = 5;
constexpr std::array kOperators{
    Operator{"||", Op::either, 1},  Operator{"&&", Op::both, 2},
    Operator{"==", Op::equal, 3},   Operator{"!=", Op::unequal, 3},
    Operator{"<", Op::less, 3},     Operator{"<=", Op::at_most, 3},
    Operator{">", Op::more, 3},     Operator{">=", Op::at_least, 3},
    Operator{"in", Op::in, 3},      Operator{"+", Op::plus, 4},
    Operator{"-", Op::subtract, 4}, Operator{"*", Op::times, 5},
    Operator{"/", Op::divide, 5},   Operator{"//", Op::floor_divide, 5},
    Operator{"%", Op::modulo, 5},
};

struct Function {
  std::string_view name;
  Op op;
  std::size_t arguments;
  bool of_name;  // its argument is a name, not a value
};
constexpr std::array kFunctions{
    Function{"set", Op::set, 1, true},         Function{"unset", Op::unset, 1, true},
    Function{"changed", Op::changed, 1, true}, Function{"has", Op::has, 1, true},
    Function{"len", Op::length, 1, false},     Function{"if", Op::choose, 3, false},
};

bool take_prefix(std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.erase(0, prefix.size());
  return true;
}

RuleName name_of(std::string text) {
  RuleName name;
  name.base = take_prefix(text, "base.");
  if (text == "this") {
    name.space = RuleName::Space::self;
  } else if (text == "defect_matched") {
    name.space = RuleName::Space::defect_matched;
  } else if (take_prefix(text, "env.")) {
    name.space = RuleName::Space::environment;
  } else if (take_prefix(text, "fact.") || text.starts_with("derived.")) {
    name.space = RuleName::Space::fact;  // "derived.x" keeps its prefix
  }
  name.name = std::move(text);
  return name;
}

}  // namespace

class RuleParser {
 public:
  explicit RuleParser(std::string_view text) : lexer_(text), rule_(std::string(text)) {
    rule_.nodes_.clear();
  }

  Result<Rule> parse() {
    SP_CHECK(advance());
    SP_TRY([[maybe_unused]] const Index root, expression(1));
    if (token_.kind != Kind::end) return expected("an operator or the end");
    return std::move(rule_);
  }

 private:
  Error expected(const std::string& what) const {
    const std::string found = token_.kind == Kind::end ? "the end" : base::shown(token_.text);
    return Error::bad_input(
        fmt::format("column {}: expected {}, found {}", token_.column, what, found));
  }
  Result<void> advance() {
    SP_TRY(token_, lexer_.next());
    return {};
  }
  bool at(std::string_view symbol) const {
    return token_.kind == Kind::symbol && token_.text == symbol;
  }
  Result<void> take(std::string_view symbol) {
    if (!at(symbol)) return expected(base::shown(symbol));
    return advance();
  }

  Result<Index> add(RuleNode node) {
    if (rule_.nodes_.size() >= Rule::kMostNodes) {
      return Error::bad_input(fmt::format("more than {} parts", Rule::kMostNodes));
    }
    rule_.nodes_.push_back(std::move(node));
    return static_cast<Index>(rule_.nodes_.size() - 1);
  }
  Result<Index> add(Op op, std::vector<Index> operands) {
    RuleNode node;
    node.op = op;
    node.operands = std::move(operands);
    return add(std::move(node));
  }
  Result<Index> add_name(Op op, RuleName name) {
    auto& names = rule_.names_;
    const auto known = std::find(names.begin(), names.end(), name);
    RuleNode node;
    node.op = op;
    node.name = static_cast<Index>(known - names.begin());
    if (known == names.end()) names.push_back(std::move(name));
    return add(std::move(node));
  }
  Result<Index> add_literal(base::Json value) {
    RuleNode node;
    node.literal = std::move(value);
    return add(std::move(node));
  }

  const Operator* operator_here(int least) const {
    const bool word = token_.kind == Kind::name && token_.text == "in";
    if (token_.kind != Kind::symbol && !word) return nullptr;
    for (const Operator& op : kOperators) {
      if (op.symbol == token_.text && op.precedence >= least) return &op;
    }
    return nullptr;
  }

  // Everything that binds at least as tightly as `least`.
  Result<Index> expression(int least) {
    if (least > kTightest) return unary();
    SP_TRY(Index left, expression(least + 1));
    for (const Operator* op = operator_here(least); op && op->precedence == least;
         op = operator_here(least)) {
      SP_CHECK(advance());
      SP_TRY(const Index right, expression(least + 1));
      SP_TRY(left, add(op->op, {left, right}));
      if (least == kComparison && operator_here(least) &&
          operator_here(least)->precedence == least) {
        return expected("no second comparison without parentheses");
      }
    }
    return left;
  }

  Result<Index> unary() {
    const bool negate = at("!");
    if (!negate && !at("-")) return primary();
    SP_CHECK(advance());
    SP_CHECK(deeper());
    SP_TRY(const Index operand, unary());
    --depth_;
    return add(negate ? Op::negate : Op::minus, {operand});
  }

  Result<void> deeper() {
    if (++depth_ <= Rule::kMostDepth) return {};
    return Error::bad_input(
        fmt::format("column {}: nested deeper than {}", token_.column, Rule::kMostDepth));
  }

  Result<Index> primary() {
    const RuleToken token = token_;
    if (token.kind == Kind::end) return expected("a value");
    if (at("(")) return group();
    if (at("[")) return list();
    if (token.kind == Kind::symbol) return expected("a value");
    if (token.kind == Kind::number) return number();
    SP_CHECK(advance());
    if (token.kind == Kind::opaque) return add(Op::opaque, {});
    if (token.kind == Kind::text) return add_literal(token.text);
    if (at("(")) return call(token);
    if (token.text == "true" || token.text == "false") return add_literal(token.text == "true");
    if (token.text == "none") return add_literal(nullptr);
    if (token.text == "in")
      return Error::bad_input(
          fmt::format("column {}: expected a value, found \"in\"", token.column));
    return add_name(Op::name, name_of(token.text));
  }

  Result<Index> group() {
    SP_CHECK(advance());
    SP_CHECK(deeper());
    SP_TRY(const Index inner, expression(1));
    --depth_;
    SP_CHECK(take(")"));
    return inner;
  }

  Result<Index> list() {
    SP_CHECK(advance());
    SP_TRY(std::vector<Index> items, arguments("]"));
    return add(Op::list, std::move(items));
  }

  // Values with commas between them, up to and with the closing symbol.
  Result<std::vector<Index>> arguments(std::string_view close) {
    SP_CHECK(deeper());
    std::vector<Index> items;
    while (!at(close)) {
      if (!items.empty()) SP_CHECK(take(","));
      SP_TRY(const Index item, expression(1));
      items.push_back(item);
    }
    --depth_;
    SP_CHECK(advance());
    return items;
  }

  Result<Index> number() {
    const std::string text = token_.text;
    SP_CHECK(advance());
    std::int64_t whole = 0;
    const char* const end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, whole);
        read.ec == std::errc() && read.ptr == end) {
      return add_literal(whole);
    }
    double real = 0;
    const auto read = std::from_chars(text.data(), end, real);
    if (read.ec != std::errc())
      return Error::bad_input("number out of range: " + base::shown(text));
    return add_literal(real);
  }

  Result<Index> call(const RuleToken& token) {
    const auto function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                       [&](const Function& f) { return f.name == token.text; });
    if (function == kFunctions.end()) {
      return Error::bad_input(
          fmt::format("column {}: no function {}; there are set, unset, changed, has, len, if",
                      token.column, base::shown(token.text)));
    }
    SP_CHECK(advance());
    if (function->of_name) {
      const std::string name = token_.text;
      if (token_.kind != Kind::name) return expected("a name");
      SP_CHECK(advance());
      SP_CHECK(take(")"));
      return add_name(function->op, name_of(name));
    }
    SP_TRY(std::vector<Index> values, arguments(")"));
    if (values.size() != function->arguments) {
      return Error::bad_input(fmt::format("column {}: {} takes {}, found {}", token.column,
                                          token.text, function->arguments, values.size()));
    }
    return add(function->op, std::move(values));
  }

  RuleLexer lexer_;
  RuleToken token_;
  Rule rule_;
  int depth_ = 0;
};

Rule::Rule(std::string text) : text_(std::move(text)) {
  RuleNode node;
  node.op = Op::opaque;
  nodes_.push_back(std::move(node));
}

Result<Rule> Rule::parse(std::string_view text) {
  if (text.size() > kMostBytes) {
    return Error::bad_input(fmt::format("longer than {} bytes", kMostBytes));
  }
  return RuleParser(text).parse();
}

Result<void> Rule::resolve(const std::function<Result<RuleName>(const RuleName&)>& resolved) {
  for (RuleName& name : names_) {
    if (name.space != RuleName::Space::parameter) continue;
    SP_TRY(name, resolved(name));
  }
  return {};
}

std::string RuleName::text() const {
  static constexpr std::array kPrefix{"", "env.", "fact.", "", ""};
  const bool derived = name.starts_with("derived.");
  const std::string prefix = derived ? "" : kPrefix.at(static_cast<std::size_t>(space));
  return (base ? "base." : "") + prefix + name;
}

}  // namespace setpoint::judge
