// SPDX-License-Identifier: Apache-2.0
#include "judge/register_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace setpoint::judge {
namespace {

using Entries = std::map<std::string, const Entry*>;

Entries entries_of(const Register& of) {
  Entries all;
  for (const Entry& entry : of.parameters) all.emplace(entry.name, &entry);
  for (const Entry& entry : of.environment) all.emplace("env." + entry.name, &entry);
  return all;
}

std::string default_text(const Entry& entry) {
  return entry.default_value ? base::json_text(*entry.default_value) : "not known";
}

std::set<std::string> effects_of(const Register& of) {
  std::set<std::string> all;
  for (const SideEffect& effect : of.side_effects) {
    std::string when;
    for (const Rule& rule : effect.when) when += (when.empty() ? " when " : " && ") + rule.text();
    all.insert(fmt::format("{} = {}{}", effect.target.text(), effect.set_to.text(), when));
  }
  return all;
}

void note_unknown(const Register& of, const Rule& rule, const std::string& where,
                  std::vector<std::string>& notes) {
  for (const RuleName& name : rule.names()) {
    if (name.space != RuleName::Space::parameter || of.parameter(name.name)) continue;
    notes.push_back(fmt::format("{}: no entry has the name {}", where, name.name));
  }
}

std::map<Class, RegisterSummary::Count> counts(const std::vector<Entry>& entries) {
  std::map<Class, RegisterSummary::Count> all;
  for (const Entry& entry : entries) {
    RegisterSummary::Count& count = all[entry.kind];
    (entry.curated ? count.curated : count.by_name) += 1;
  }
  return all;
}

}  // namespace

std::string judgement_text(const Entry& entry) {
  std::string text(word(entry.kind));
  if (entry.facet) text += fmt::format(" ({})", word(*entry.facet));
  text += fmt::format(", {}{}", word(entry.confidence), entry.curated ? "" : ", by name");
  if (entry.pass_if) text += ": " + entry.pass_if->text();
  return text;
}

RegisterSummary summary_of(const Register& of) {
  RegisterSummary sum;
  sum.parameters = counts(of.parameters);
  sum.environment = counts(of.environment);
  for (const auto* entries : {&of.parameters, &of.environment}) {
    for (const Entry& entry : *entries) {
      if (entry.pass_if) note_unknown(of, *entry.pass_if, entry.name, sum.unknown_names);
    }
  }
  for (const Fact& fact : of.facts) {
    (fact.value ? sum.facts_computed : sum.facts_read) += 1;
    if (fact.value) note_unknown(of, *fact.value, "fact " + fact.name, sum.unknown_names);
  }
  for (const SideEffect& effect : of.side_effects) {
    ++sum.effects;
    const bool opaque =
        effect.set_to.is_opaque() || std::any_of(effect.when.begin(), effect.when.end(),
                                                 [](const Rule& rule) { return rule.is_opaque(); });
    sum.opaque_effects += opaque ? 1 : 0;
    const bool known = effect.target.space != RuleName::Space::parameter ||
                       of.parameter(effect.target.name) != nullptr;
    if (!known) sum.unknown_names.push_back("side effect on " + effect.target.name);
  }
  return sum;
}

RegisterDiff diff_of(const Register& before, const Register& after) {
  const Entries old_entries = entries_of(before), new_entries = entries_of(after);
  RegisterDiff diff;
  for (const auto& [name, entry] : new_entries) {
    const auto old = old_entries.find(name);
    if (old == old_entries.end()) {
      diff.added.push_back(name);
      continue;
    }
    const std::string was = default_text(*old->second), is = default_text(*entry);
    if (was != is) diff.defaults.push_back({name, was, is});
    const std::string judged = judgement_text(*old->second), judges = judgement_text(*entry);
    if (judged != judges) diff.judgements.push_back({name, judged, judges});
  }
  for (const auto& [name, entry] : old_entries) {
    if (!new_entries.contains(name)) diff.removed.push_back(name);
  }
  const auto old_effects = effects_of(before), new_effects = effects_of(after);
  std::set_difference(new_effects.begin(), new_effects.end(), old_effects.begin(),
                      old_effects.end(), std::back_inserter(diff.new_effects));
  return diff;
}

}  // namespace setpoint::judge
