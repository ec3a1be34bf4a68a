// SPDX-License-Identifier: Apache-2.0
#include "judge/side_effects.h"

#include <algorithm>
#include <optional>
#include <set>

namespace setpoint::judge {
namespace {

using Known = std::optional<base::Json>;
using Values = std::map<std::string, base::Json>;

// The enclosing conditions of one effect after the other. A branch is entered once: an outer
// condition that the effect before shared keeps its answer, even if that effect changed a value it
// depends on, and `!(c)` after `c` is its else.
class Conditions {
 public:
  Truth all(const std::vector<Rule>& when, const RuleScope& scope) {
    std::vector<std::pair<std::string, Truth>> now;
    bool shared = true;
    Truth all = Truth::yes;
    for (const Rule& rule : when) {
      const std::size_t depth = now.size();
      const Truth kept =
          shared && depth < last_.size() ? answer(rule, last_[depth]) : Truth::unknown;
      shared = shared && depth < last_.size() && last_[depth].first == rule.text();
      const Truth one = kept != Truth::unknown ? kept : evaluate(rule, scope).truth();
      now.emplace_back(rule.text(), one);
      if (one == Truth::no) all = Truth::no;
      if (one == Truth::unknown && all == Truth::yes) all = Truth::unknown;
    }
    last_ = std::move(now);
    return all;
  }

 private:
  static Truth answer(const Rule& rule, const std::pair<std::string, Truth>& before) {
    const auto& [text, truth] = before;
    if (rule.text() == text) return truth;
    const bool other = rule.text() == "!(" + text + ")" && truth != Truth::unknown;
    return !other ? Truth::unknown : truth == Truth::yes ? Truth::no : Truth::yes;
  }
  std::vector<std::pair<std::string, Truth>> last_;
};

// A variable that may have been set keeps its value: missing would say that it is unset.
void write(recipe::FinalValues& values, const RuleName& target, const Known& value) {
  if (target.space == RuleName::Space::environment) {
    if (value && value->is_string()) {
      values.environment[target.name] = value->get<std::string>();
    }
  } else if (value) {
    values.parameters[target.name] = *value;
  } else {
    values.parameters.erase(target.name);
  }
}

// Parameters and variables in one table, the latter as "env.NAME".
Values flat(const Register& by, const recipe::FinalValues& values) {
  Values out = canonical_names(by, values).parameters;
  for (const auto& [name, value] : values.environment) out.emplace("env." + name, value);
  return out;
}

Known find(const Values& values, const std::string& name) {
  const auto it = values.find(name);
  return it == values.end() ? std::nullopt : Known(it->second);
}

// Missing on either side is not the same as anything.
Truth same(const Known& a, const Known& b) {
  if (!a || !b) return Truth::unknown;
  return same_value(*a, *b) ? Truth::yes : Truth::no;
}

bool differs(const Known& a, const Known& b) {
  return a.has_value() != b.has_value() || (a && !same_value(*a, *b));
}

std::set<std::string> names_of(const Values& a, const Values& b) {
  std::set<std::string> names;
  for (const Values* values : {&a, &b}) {
    for (const auto& [name, value] : *values) names.insert(name);
  }
  return names;
}

std::string origin_of(const std::string& name, const Replay& first, const Replay& second) {
  for (const Replay* replayed : {&first, &second}) {
    const auto it = replayed->origin.find(name);
    if (it != replayed->origin.end()) return it->second;
  }
  return {};
}

Truth both(Truth a, Truth b) {
  if (a == Truth::no || b == Truth::no) return Truth::no;
  return a == Truth::yes ? b : a;
}

template <class Chosen>
Replay run(const Register& by, recipe::FinalValues start, Chosen chosen) {
  Replay out{std::move(start), {}};
  Conditions conditions;
  for (const SideEffect& effect : by.side_effects) {
    if (!chosen(effect)) continue;
    const RuleScope scope{out.values, out.values, effect.target, Truth::unknown, &by.fact_rules};
    const Truth happens = conditions.all(effect.when, scope);
    if (happens == Truth::no) continue;
    Known value = evaluate(effect.set_to, scope).value;
    const Known before = value_of(effect.target, scope);
    if (before && value && same_value(*before, *value)) continue;
    if (happens == Truth::unknown) value = std::nullopt;
    write(out.values, effect.target, value);
    const bool variable = effect.target.space == RuleName::Space::environment;
    out.origin[(variable ? "env." : "") + effect.target.name] = effect.where;
  }
  return out;
}

}  // namespace

Replay replay(const Register& by, const recipe::FinalValues& requested) {
  recipe::FinalValues values = canonical_names(by, requested);
  for (const Entry& entry : by.parameters) {
    if (entry.default_value) values.parameters.emplace(entry.name, *entry.default_value);
  }
  return run(by, std::move(values), [](const SideEffect&) { return true; });
}

Replay replay_after_print(const Register& by, const recipe::FinalValues& printed) {
  return run(by, canonical_names(by, printed), [](const SideEffect& effect) {
    return effect.where.find("/arguments.py:") == std::string::npos;
  });
}

std::vector<Unasked> unasked_moves(const Register& by, const RequestAndResult& candidate,
                                   const RequestAndResult& baseline) {
  const Replay after = replay(by, candidate.requested), before = replay(by, baseline.requested);
  const Values computed = flat(by, after.values), computed_before = flat(by, before.values);
  const Values wanted = flat(by, candidate.requested), wanted_before = flat(by, baseline.requested);
  const Values now = flat(by, candidate.final), then = flat(by, baseline.final);
  std::vector<Unasked> moves;
  for (const std::string& name : names_of(now, then)) {
    const Known is = find(now, name), was = find(then, name), asked = find(wanted, name);
    const bool overruled = asked && differs(asked, is);
    const bool moved = differs(is, was) && !differs(asked, find(wanted_before, name));
    if (!overruled && !moved) continue;
    Truth explained = same(is, find(computed, name));
    if (moved) explained = both(explained, same(was, find(computed_before, name)));
    moves.push_back({name, overruled, explained, origin_of(name, after, before)});
  }
  return moves;
}

}  // namespace setpoint::judge
