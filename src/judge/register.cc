// SPDX-License-Identifier: Apache-2.0
#include "judge/register.h"

#include <fmt/format.h>

#include "base/text.h"
#include "judge/rule_version.h"

namespace setpoint::judge {
namespace {

const Entry* look_up(const std::map<std::string, std::size_t, std::less<>>& index,
                     const std::vector<Entry>& entries, std::string_view name) {
  const auto it = index.find(name);
  return it == index.end() ? nullptr : &entries[it->second];
}

Judgement by_rule(const Entry& entry, const RuleScope& scope) {
  const RuleAnswer answer = evaluate(*entry.pass_if, scope);
  switch (answer.truth()) {
    case Truth::yes:
      return {Verdict::pass,
              &entry,
              fmt::format("{}; holds: {}", entry.reason, entry.pass_if->text()),
              {}};
    case Truth::no:
      return {Verdict::reject,
              &entry,
              fmt::format("{}; does not hold: {}", entry.reason, entry.pass_if->text()),
              {}};
    case Truth::unknown:
      break;
  }
  return {Verdict::unknown, &entry,
          fmt::format("{}; not known: {} (for: {})", entry.reason, base::join(answer.unknown),
                      entry.pass_if->text()),
          answer.unknown};
}

Judgement by_class(const Entry& entry, const RuleScope& scope) {
  switch (entry.kind) {
    case Class::trained:
      return {Verdict::reject,
              &entry,
              fmt::format("changes what is trained ({}): {}", word(*entry.facet), entry.reason),
              {}};
    case Class::measurement:
      if (!entry.curated) break;
      return {Verdict::reject, &entry, "changes what is measured: " + entry.reason, {}};
    case Class::other_mode:
      return {
          Verdict::unknown, &entry, "belongs to another mode than training: " + entry.reason, {}};
    default:
      break;
  }
  if (!entry.may_pass()) {
    return {Verdict::unknown, &entry, "not judged by a person: " + entry.reason, {}};
  }
  if (entry.pass_if) return by_rule(entry, scope);
  return {Verdict::pass, &entry, entry.reason, {}};
}

}  // namespace

const Entry* Register::parameter(std::string_view name) const {
  return look_up(parameter_index, parameters, name);
}

const Entry* Register::variable(std::string_view name) const {
  return look_up(variable_index, environment, name);
}

Result<RuleName> Register::resolve(const RuleName& name) const {
  if (name.space != RuleName::Space::parameter) return name;
  RuleName out = name;
  if (const Entry* entry = parameter(name.name)) {
    out.name = entry->name;
    return out;
  }
  if (const auto full = by_last_part.find(name.name); full != by_last_part.end()) {
    if (full->second.size() > 1) {
      return Error::bad_input(fmt::format("{} may be any of {}: write the whole name", name.name,
                                          base::join(full->second)));
    }
    out.name = full->second.front();
    return out;
  }
  for (const Fact& fact : facts) {
    if (fact.name == name.name) out.space = RuleName::Space::fact;
  }
  return out;
}

recipe::FinalValues canonical_names(const Register& by, recipe::FinalValues values) {
  std::map<std::string, base::Json> renamed;
  for (auto& [name, value] : values.parameters) {
    const Entry* entry = by.parameter(name);
    const bool taken = entry && entry->name != name &&
                       (values.parameters.contains(entry->name) || renamed.contains(entry->name));
    renamed.emplace(entry && !taken ? entry->name : name, std::move(value));
  }
  values.parameters = std::move(renamed);
  return values;
}

Judgement judge_change(const Register& by, const RuleName& name,
                       const recipe::FinalValues& candidate, const recipe::FinalValues& baseline,
                       Truth defect_matched) {
  const bool variable = name.space == RuleName::Space::environment;
  const Entry* entry = variable ? by.variable(name.name) : by.parameter(name.name);
  if (!entry) return {Verdict::unknown, nullptr, "not in the register of " + by.framework, {}};
  RuleName self = name;
  self.name = entry->name;
  Judgement judgement =
      by_class(*entry, {candidate, baseline, self, defect_matched, &by.fact_rules});
  const bool outside = in_version_range(candidate.version, by.version_range) == false;
  if (judgement.verdict == Verdict::pass && outside) {
    judgement.verdict = Verdict::unknown;
    judgement.reason += fmt::format("; but the register holds for {}, not for {}", by.version_range,
                                    candidate.version);
  }
  return judgement;
}

}  // namespace setpoint::judge
