// SPDX-License-Identifier: Apache-2.0
#include "setpoint/generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "generate/target.h"

namespace setpoint::generate {
namespace {

std::string name_of(Target target) {
  return std::string(kTargetNames[static_cast<std::size_t>(target)]);
}

Result<Plan> plan_of(const Deployment& deployment, const Options& options) {
  SP_TRY(Settings made, settings(deployment, options));
  SP_TRY(FlagTable flags, FlagTable::open(made.framework, made.engine_version));
  std::vector<std::string> notes = deployment.notes;
  notes.insert(notes.end(), made.warnings.begin(), made.warnings.end());
  if (!flags.note().empty()) notes.push_back(flags.note());
  made.warnings = std::move(notes);
  Placement placement = place(made);
  return Plan{&deployment, options, std::move(made), std::move(flags), std::move(placement)};
}

// Why a target cannot run the plan at all; "" when nothing is known against it.
Result<std::string> refusal(const TargetRow& row, const Plan& plan) {
  const Settings& s = plan.settings;
  SP_TRY(const framework::Facts facts, framework::find_facts(s.framework, s.engine_version));
  if (s.mode == Mode::disagg && !row.brings_router && !facts.launch.pool_router) {
    return s.framework + " has no router of its own that joins prefill and decode workers";
  }
  if (row.one_node && plan.placement.nodes > 1) {
    return fmt::format("the workers need {} machines, it runs on one", plan.placement.nodes);
  }
  return std::string();
}

Result<Files> files_of(const TargetRow& row, Plan& plan) {
  plan.options.target = row.target;
  SP_TRY(const std::string why, refusal(row, plan));
  if (!why.empty()) return Error{ErrorCode::no, name_of(row.target) + ": " + why};
  return row.files(plan);
}

std::vector<Target> those_that_can(Plan& plan) {
  std::vector<Target> out;
  for (const TargetRow& row : targets()) {
    if (files_of(row, plan).ok()) out.push_back(row.target);
  }
  return out;
}

// The target's own words about it, and all that really can.
Error with_alternatives(const Error& error, Plan& plan) {
  const std::string why = error.text.substr(0, error.text.find("; targets that"));
  std::vector<std::string> names;
  for (const Target target : those_that_can(plan)) names.push_back(name_of(target));
  return {error.code, fmt::format("{}{}; {}", why.starts_with("--target") ? "" : "--target ", why,
                                  names.empty() ? "no other target can"
                                                : "targets that can: " + base::join(names))};
}

}  // namespace

std::vector<Target> targets_for(const Deployment& deployment, const Options& options) {
  auto plan = plan_of(deployment, options);
  return plan ? those_that_can(*plan) : std::vector<Target>();
}

Result<std::vector<File>> generate(const Deployment& deployment, const Options& options) {
  SP_TRY(Plan plan, plan_of(deployment, options));
  const auto rows = targets();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const TargetRow& r) { return r.target == options.target; });
  auto made = files_of(*row, plan);
  if (!made && made.error().code == ErrorCode::no) return with_alternatives(made.error(), plan);
  SP_TRY(Files files, std::move(made));
  files.push_back(bench_file(plan));
  files.push_back(plan_file(plan, files));
  SP_CHECK(check(plan, files));
  return files;
}

}  // namespace setpoint::generate
