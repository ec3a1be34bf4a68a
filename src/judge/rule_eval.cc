// SPDX-License-Identifier: Apache-2.0
// One pass over the flat tree: operands stand before the node that uses them.
#include <algorithm>
#include <cmath>
#include <span>

#include "judge/rule.h"
#include "judge/rule_version.h"

namespace setpoint::judge {
namespace {

using base::Json;
using Op = RuleNode::Op;
using Known = std::optional<Json>;

constexpr int kMostFactDepth = 8;
constexpr int kMostSteps = 20'000;  // nodes of a rule and of all facts it needs

bool is_true(const Json& value) {
  if (value.is_null()) return false;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

Truth truth_of(const Known& value) {
  if (!value) return Truth::unknown;
  return is_true(*value) ? Truth::yes : Truth::no;
}

Known both(const Known& a, const Known& b) {
  if ((a && !is_true(*a)) || (b && !is_true(*b))) return Json(false);
  return a && b ? Known(true) : std::nullopt;
}

Known either(const Known& a, const Known& b) {
  if ((a && is_true(*a)) || (b && is_true(*b))) return Json(true);
  return a && b ? Known(false) : std::nullopt;
}

// Numbers by size, texts as versions; what is unset is neither more nor less than anything.
std::optional<std::partial_ordering> order(const Json& a, const Json& b) {
  if (a.is_null() || b.is_null()) return std::partial_ordering::unordered;
  if (a.is_number() && b.is_number()) return a.get<double>() <=> b.get<double>();
  if (!a.is_string() || !b.is_string()) return std::nullopt;
  const auto left = parse_python_version(a.get_ref<const std::string&>());
  const auto right = parse_python_version(b.get_ref<const std::string&>());
  if (!left || !right) return std::nullopt;
  return *left <=> *right;
}

Known compare(Op op, const Json& a, const Json& b) {
  if (op == Op::equal) return Json(same_value(a, b));
  if (op == Op::unequal) return Json(!same_value(a, b));
  const auto found = order(a, b);
  if (!found) return std::nullopt;
  switch (op) {
    case Op::less:
      return Json(*found < 0);
    case Op::at_most:
      return Json(*found <= 0);
    case Op::more:
      return Json(*found > 0);
    default:
      return Json(*found >= 0);
  }
}

Known contains(const Json& item, const Json& all) {
  if (all.is_string() && item.is_string()) {
    return Json(all.get_ref<const std::string&>().find(item.get_ref<const std::string&>()) !=
                std::string::npos);
  }
  if (!all.is_array()) return std::nullopt;
  return Json(
      std::any_of(all.begin(), all.end(), [&](const Json& x) { return same_value(x, item); }));
}

// Whole numbers as Python has them: // and % round down, / gives a fraction.
std::optional<std::int64_t> whole(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  const bool fits = [&] {
    switch (op) {
      case Op::plus:
        return !__builtin_add_overflow(a, b, &out);
      case Op::subtract:
        return !__builtin_sub_overflow(a, b, &out);
      case Op::times:
        return !__builtin_mul_overflow(a, b, &out);
      default:
        break;
    }
    if (b == 0 || b == -1 || (op != Op::floor_divide && op != Op::modulo)) return false;
    const std::int64_t rest = a % b;
    const bool down = rest != 0 && (rest < 0) != (b < 0);
    out = op == Op::modulo ? rest + (down ? b : 0) : a / b - (down ? 1 : 0);
    return true;
  }();
  return fits ? std::optional(out) : std::nullopt;
}

Known arithmetic(Op op, const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) return std::nullopt;
  if (a.is_number_integer() && b.is_number_integer()) {
    if (const auto out = whole(op, a.get<std::int64_t>(), b.get<std::int64_t>())) return Json(*out);
  }
  const double x = a.get<double>(), y = b.get<double>();
  const double out = [&] {
    switch (op) {
      case Op::plus:
        return x + y;
      case Op::subtract:
        return x - y;
      case Op::times:
        return x * y;
      case Op::divide:
        return x / y;
      case Op::floor_divide:
        return std::floor(x / y);
      default:
        return x - y * std::floor(x / y);
    }
  }();
  return std::isfinite(out) ? Known(out) : std::nullopt;
}

Known find(const std::map<std::string, Json>& values, const std::string& name) {
  const auto it = values.find(name);
  return it == values.end() ? std::nullopt : Known(it->second);
}

// A variable that is not there is unset; no environment at all was never captured.
Known variable(const std::map<std::string, std::string>& environment, const std::string& name) {
  if (environment.empty()) return std::nullopt;
  const auto it = environment.find(name);
  return it == environment.end() ? Known(nullptr) : Known(it->second);
}

class Evaluation {
 public:
  explicit Evaluation(const RuleScope& scope) : scope_(scope) {}

  RuleAnswer run(const Rule& rule, bool base) {
    std::vector<RuleAnswer> answers(rule.nodes().size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (++steps_ > kMostSteps) return {std::nullopt, {"too many steps"}};
      node(rule, rule.nodes()[i], base, answers, answers[i]);
    }
    return std::move(answers.back());
  }

  Known name(const RuleName& name, bool base) {
    base = base || name.base;
    const recipe::FinalValues& values = base ? scope_.baseline : scope_.candidate;
    switch (name.space) {
      case RuleName::Space::environment:
        return variable(values.environment, name.name);
      case RuleName::Space::fact:
        return fact(values, name.name, base);
      case RuleName::Space::defect_matched:
        return defect();
      case RuleName::Space::self:
        return scope_.self.space == RuleName::Space::self ? std::nullopt
                                                          : this->name(scope_.self, base);
      case RuleName::Space::parameter:
        break;
    }
    return find(values.parameters, name.name);
  }

 private:
  Known defect() const {
    if (scope_.defect_matched == Truth::unknown) return std::nullopt;
    return Json(scope_.defect_matched == Truth::yes);
  }

  // A reader's word goes before the register's own computation.
  Known fact(const recipe::FinalValues& values, const std::string& name, bool base) {
    if (auto told = find(values.facts, name)) return told;
    if (auto told = find(values.parameters, name); told && name.starts_with("derived."))
      return told;
    if (!scope_.facts || fact_depth_ >= kMostFactDepth) return std::nullopt;
    const auto rule = scope_.facts->find(name);
    if (rule == scope_.facts->end()) return std::nullopt;
    ++fact_depth_;
    RuleAnswer answer = run(rule->second, base);
    --fact_depth_;
    return std::move(answer.value);
  }

  // set, unset, changed and has ask about a name, all others use its value.
  Known about(Op op, const RuleName& asked, bool base) {
    const Known value = name(asked, base);
    if (op == Op::name) return value;
    if (op == Op::has) return Json(value.has_value());
    if (!value) return std::nullopt;
    if (op == Op::set) return Json(!value->is_null());
    if (op == Op::unset) return Json(value->is_null());
    const Known before = name(asked, true);
    return before ? Known(!same_value(*value, *before)) : std::nullopt;
  }

  static Known operation(Op op, std::span<const Known> of) {
    if (op == Op::both) return both(of[0], of[1]);
    if (op == Op::either) return either(of[0], of[1]);
    if (op == Op::choose) return !of[0] ? std::nullopt : is_true(*of[0]) ? of[1] : of[2];
    if (!std::all_of(of.begin(), of.end(), [](const Known& v) { return v.has_value(); })) {
      return std::nullopt;
    }
    switch (op) {
      case Op::negate:
        return Json(!is_true(*of[0]));
      case Op::minus:
        return arithmetic(Op::subtract, 0, *of[0]);
      case Op::in:
        return contains(*of[0], *of[1]);
      case Op::length:
        if (of[0]->is_string()) return Json(of[0]->get_ref<const std::string&>().size());
        return of[0]->is_array() ? Known(of[0]->size()) : std::nullopt;
      case Op::list: {
        Json items = Json::array();
        for (const Known& item : of) items.push_back(*item);
        return items;
      }
      case Op::equal:
      case Op::unequal:
      case Op::less:
      case Op::at_most:
      case Op::more:
      case Op::at_least:
        return compare(op, *of[0], *of[1]);
      default:
        return arithmetic(op, *of[0], *of[1]);
    }
  }

  void node(const Rule& rule, const RuleNode& node, bool base,
            const std::vector<RuleAnswer>& before, RuleAnswer& out) {
    switch (node.op) {
      case Op::literal:
        out.value = node.literal;
        return;
      case Op::opaque:
        out.unknown = {"?"};
        return;
      case Op::name:
      case Op::set:
      case Op::unset:
      case Op::changed:
      case Op::has: {
        const RuleName& asked = rule.names()[node.name];
        out.value = about(node.op, asked, base);
        if (!out.value) out.unknown = {asked.text()};
        return;
      }
      default:
        break;
    }
    std::vector<Known> operands;
    for (const auto i : node.operands) operands.push_back(before[i].value);
    out.value = operation(node.op, operands);
    if (out.value) return;
    for (const auto i : node.operands) {
      for (const std::string& name : before[i].unknown) {
        if (std::find(out.unknown.begin(), out.unknown.end(), name) == out.unknown.end()) {
          out.unknown.push_back(name);
        }
      }
    }
    if (out.unknown.empty()) out.unknown = {"values that do not compare"};
  }

  const RuleScope& scope_;
  int steps_ = 0, fact_depth_ = 0;
};

}  // namespace

Truth RuleAnswer::truth() const { return truth_of(value); }

RuleAnswer evaluate(const Rule& rule, const RuleScope& scope) {
  return Evaluation(scope).run(rule, false);
}

std::optional<Json> value_of(const RuleName& name, const RuleScope& scope) {
  return Evaluation(scope).name(name, false);
}

bool same_value(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a == b;
  if (a.is_array() && b.is_array()) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_value);
  }
  return a.type() == b.type() && a == b;
}

}  // namespace setpoint::judge
