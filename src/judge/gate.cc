// SPDX-License-Identifier: Apache-2.0
#include "setpoint/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "judge/gate_rules.h"
#include "recipe/canonical.h"

namespace setpoint::judge {
namespace {

// What a rule of the gate sees: canonical values, and what the register's tables say about both.
GateView view_of(const GateSide& original, const GateSide& candidate, const Register& by,
                 const Defects& defects) {
  GateView view{by,
                with_facts(by, original.run.values),
                with_facts(by, candidate.run.values),
                {},
                {},
                original,
                candidate,
                {},
                {},
                {}};
  view.differences = recipe::diff(view.base, view.candidate);
  view.defects = match_defects(defects, by, view.candidate, view.base);
  if (original.requested && candidate.requested) {
    view.base_requested = canonical_names(by, recipe::canonical(*original.requested));
    view.candidate_requested = canonical_names(by, recipe::canonical(*candidate.requested));
    view.unasked = unasked_moves(by, {view.candidate_requested, view.candidate},
                                 {view.base_requested, view.base});
  }
  return view;
}

recipe::Noise neutral(const Register& by) {
  return [&by](const std::string& name) {
    constexpr std::string_view kEnvironment = "env.";
    const Entry* entry = name.starts_with(kEnvironment)
                             ? by.variable(std::string_view(name).substr(kEnvironment.size()))
                             : by.parameter(name);
    return entry && entry->kind == Class::neutral && entry->may_pass();
  };
}

bool any(const std::vector<Finding>& findings, Outcome verdict) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.verdict == verdict; });
}

// What decides, then the counts.
std::string summary(const GateReport& report) {
  const auto count = [&](Outcome verdict) {
    return std::count_if(report.findings.begin(), report.findings.end(),
                         [&](const Finding& finding) { return finding.verdict == verdict; });
  };
  const std::string counts =
      fmt::format("{} to reject, {} to review, {} pass", count(Outcome::reject),
                  count(Outcome::review), count(Outcome::pass));
  if (report.verdict == Outcome::unchanged) return "the same recipe, nothing to try; " + counts;
  const Finding& worst = report.findings.front();
  if (worst.verdict == Outcome::pass) return counts;
  return fmt::format("{} ({}); {}", worst.name, worst.kind, counts);
}

}  // namespace

GateReport gate_before(const GateSide& original, const GateSide& candidate, const Register& by,
                       const Defects& defects) {
  GateReport report;
  const GateView view = view_of(original, candidate, by, defects);
  for (const GateRule& rule : gate_rules()) rule(view, report);
  const auto hash = recipe::effective_hash(view.candidate, neutral(by));
  const auto before = recipe::effective_hash(view.base, neutral(by));
  if (!hash || !before) {
    report.findings.push_back({"values",
                               {},
                               {},
                               "not readable",
                               Outcome::reject,
                               (hash ? before : hash).error().text,
                               "",
                               false});
  } else {
    report.effective_hash = *hash;
  }
  report.verdict = any(report.findings, Outcome::reject)   ? Outcome::reject
                   : any(report.findings, Outcome::review) ? Outcome::review
                   : *hash == *before                      ? Outcome::unchanged
                                                           : Outcome::pass;
  constexpr std::array kOrder{Outcome::reject, Outcome::review, Outcome::unchanged, Outcome::pass};
  std::stable_sort(
      report.findings.begin(), report.findings.end(), [&](const Finding& a, const Finding& b) {
        const auto place = [&](Outcome v) { return std::find(kOrder.begin(), kOrder.end(), v); };
        return place(a.verdict) < place(b.verdict);
      });
  report.summary = summary(report);
  return report;
}

}  // namespace setpoint::judge
