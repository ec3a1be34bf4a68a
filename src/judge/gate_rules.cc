// SPDX-License-Identifier: Apache-2.0
#include "judge/gate_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "judge/split.h"
#include "recipe/canonical.h"

namespace setpoint::judge {
namespace {

using recipe::Difference;
using recipe::FinalValues;

constexpr std::string_view kEnvironment = "env.";

RuleName rule_name(const std::string& name) {
  RuleName out;
  if (name.starts_with(kEnvironment)) {
    out.space = RuleName::Space::environment;
    out.name = name.substr(kEnvironment.size());
  } else {
    out.name = name;
  }
  return out;
}

std::string core_version(const FinalValues& values) {
  if (values.framework == "megatron-core") return values.version;
  const auto fact = values.facts.find("megatron_core_version");
  return fact != values.facts.end() && fact->second.is_string() ? fact->second.get<std::string>()
                                                                : "";
}

SplitCheck split_of(const FinalValues& values) { return check_split(values, core_version(values)); }

// The facet says more than the class: "batch" and not "changes-what-is-trained".
std::string kind_of(const Entry* entry) {
  if (!entry) return "not in register";
  if (entry->facet) return std::string(word(*entry->facet));
  return std::string(word(entry->kind));
}

Outcome outcome(Verdict verdict) {
  return verdict == Verdict::pass     ? Outcome::pass
         : verdict == Verdict::reject ? Outcome::reject
                                      : Outcome::review;
}

void same_framework(const GateView& view, GateReport& report) {
  const auto differ = [&](const char* name, const std::string& a, const std::string& b,
                          Outcome verdict, const char* why) {
    if (a != b) report.findings.push_back({name, a, b, "framework", verdict, why, "", false});
  };
  differ("framework", view.base.framework, view.candidate.framework, Outcome::reject,
         "another framework trains something else");
  differ("version", view.base.version, view.candidate.version, Outcome::review,
         "another version has other defaults and defects; a campaign keeps one");
  if (view.by.framework != view.candidate.framework && view.by.framework != "generic") {
    report.findings.push_back({"register", view.by.framework, view.candidate.framework, "framework",
                               Outcome::reject, "this register is for another framework", "",
                               false});
  }
}

// One digest of what must be the same in all runs, where both sides state it.
void same_inputs(const GateView& view, GateReport& report) {
  struct Input {
    const char *fact, *kind, *why;
  };
  constexpr std::array kInputs{
      Input{"source_tree_hash", "source edit", "the framework's source was edited"},
      Input{"checkpoint_hash", "init", "other weights are loaded"},
      Input{"data_order_hash", "data", "other data, or another order of it"}};
  for (const Input& input : kInputs) {
    const auto a = view.base.facts.find(input.fact), b = view.candidate.facts.find(input.fact);
    if (a == view.base.facts.end() || b == view.candidate.facts.end()) continue;
    if (a->second == b->second) continue;
    report.findings.push_back({std::string("fact.") + input.fact, a->second, b->second, input.kind,
                               Outcome::reject, input.why, "", false});
  }
}

void same_on_all_ranks(const GateView& view, GateReport& report) {
  const auto check = [&](const recipe::Run& run, const char* side) {
    for (const recipe::RankDifference& found : run.rank_differences) {
      report.findings.push_back(
          {found.difference.name, found.difference.base, found.difference.candidate,
           "differs by rank", Outcome::reject,
           fmt::format("{}: rank {} has another value than rank 0", side, found.rank), "", false});
    }
  };
  check(view.original_side.run, "original");
  check(view.candidate_side.run, "candidate");
}

void environment_is_known(const GateView& view, GateReport& report) {
  const bool base = !view.original_side.run.values.environment.empty();
  const bool candidate = !view.candidate_side.run.values.environment.empty();
  if (!base && !candidate) {
    report.notes.emplace_back("environment: neither side states one, so it was not compared");
  } else if (base != candidate) {
    report.findings.push_back({"environment", base ? "stated" : "not stated",
                               candidate ? "stated" : "not stated", "environment", Outcome::review,
                               "only one side states its environment", "", false});
  }
}

const Unasked* find(const std::vector<Unasked>& moves, const std::string& name) {
  const auto it = std::find_if(moves.begin(), moves.end(),
                               [&](const Unasked& moved) { return moved.name == name; });
  return it == moves.end() ? nullptr : &*it;
}

// A value that moves for no known reason is not understood, so it cannot pass.
void explain(const Unasked& moved, Finding& finding) {
  finding.unasked = true;
  finding.why += moved.overruled ? "; the request says otherwise" : "; nobody asked for it";
  finding.why +=
      moved.explained == Truth::yes ? ": a side effect" : ", and no known side effect explains it";
  if (!moved.origin.empty()) finding.source = moved.origin;
  if (moved.explained != Truth::yes && finding.verdict == Outcome::pass) {
    finding.verdict = Outcome::review;
  }
}

void every_difference(const GateView& view, GateReport& report) {
  const bool blind = view.original_side.run.values.environment.empty() ||
                     view.candidate_side.run.values.environment.empty();
  for (const Difference& difference : view.differences) {
    const RuleName name = rule_name(difference.name);
    // Against nothing every variable differs: environment_is_known says that once.
    if (blind && name.space == RuleName::Space::environment) continue;
    const Judgement judgement = judge_change(view.by, name, view.candidate, view.base,
                                             defect_matched(view.defects, view.by, name));
    Finding finding{difference.name,
                    difference.base,
                    difference.candidate,
                    kind_of(judgement.entry),
                    outcome(judgement.verdict),
                    judgement.reason,
                    judgement.entry ? judgement.entry->where : "",
                    false};
    if (const Unasked* moved = find(view.unasked, difference.name)) explain(*moved, finding);
    report.findings.push_back(std::move(finding));
  }
}

void no_known_defect(const GateView& view, GateReport& report) {
  for (const DefectMatch& match : view.defects) {
    const Defect& defect = *match.defect;
    if (match.applies == Truth::yes && match.applied_before == Truth::yes) {
      report.notes.push_back(fmt::format("known defect {} in both: {}", defect.id, defect.effect));
    } else if (match.applies == Truth::yes || match.touched) {
      Finding finding{defect.id,        {},   {}, "known defect", Outcome::reject, defect.effect,
                      defect.reference, false};
      if (match.applies == Truth::unknown) {
        finding.verdict = Outcome::review;
        finding.why =
            fmt::format("may apply, not known: {}: {}", base::join(match.unknown), defect.effect);
      } else if (match.applied_before == Truth::unknown) {
        finding.why += " (whether the original has it is not known)";
      }
      report.findings.push_back(std::move(finding));
    }
  }
}

void every_layer_has_a_stage(const GateView& view, GateReport& report) {
  const SplitCheck check = split_of(view.candidate);
  const bool moved = split_of(view.base).numbered != check.numbered;
  if (check.state == SplitCheck::State::broken ||
      (check.state == SplitCheck::State::unknown && moved)) {
    report.findings.push_back(
        {"layer map",
         {},
         {},
         "split",
         check.state == SplitCheck::State::broken ? Outcome::reject : Outcome::review,
         check.reason,
         "",
         false});
  }
}

// What the candidate asks for and the original does not, without any difference in the end.
void every_request_took_effect(const GateView& view, GateReport& report) {
  for (const Unasked& moved : view.unasked) {
    const auto asked = view.candidate_requested.parameters.find(moved.name);
    const auto before = view.base_requested.parameters.find(moved.name);
    const bool differs =
        std::any_of(view.differences.begin(), view.differences.end(),
                    [&](const Difference& difference) { return difference.name == moved.name; });
    if (!moved.overruled || differs || asked == view.candidate_requested.parameters.end()) continue;
    if (before != view.base_requested.parameters.end() && before->second == asked->second) continue;
    Finding finding{moved.name,
                    asked->second,
                    {},
                    "no effect",
                    Outcome::unchanged,
                    "the flag had no effect: the framework set something else",
                    moved.origin,
                    false};
    const auto final = view.candidate.parameters.find(moved.name);
    if (final != view.candidate.parameters.end()) finding.candidate = final->second;
    report.findings.push_back(std::move(finding));
  }
}

constexpr std::array kRules{&same_framework,          &same_inputs,
                            &same_on_all_ranks,       &no_known_defect,
                            &every_layer_has_a_stage, &environment_is_known,
                            &every_difference,        &every_request_took_effect};
constexpr std::array<GateRule, kRules.size()> kGateRules = kRules;

}  // namespace

std::span<const GateRule> gate_rules() { return kGateRules; }

FinalValues with_facts(const Register& by, const FinalValues& values) {
  FinalValues out = canonical_names(by, recipe::canonical(values));
  const SplitCheck split = split_of(out);
  out.facts.erase("layer_map_complete");
  if (split.state == SplitCheck::State::complete) out.facts["layer_map_complete"] = true;
  if (split.state == SplitCheck::State::broken) out.facts["layer_map_complete"] = false;
  return out;
}

}  // namespace setpoint::judge
