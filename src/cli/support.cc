// SPDX-License-Identifier: Apache-2.0
// aiconf support: what answers about a model on a GPU would rest on. The plan of a plain layout is
// bound to each framework's data, and every operator says where its time comes from.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/json.h"
#include "cli/command.h"
#include "cli/subject_flags.h"
#include "framework/framework.h"
#include "report/search_text.h"
#include "report/table.h"
#include "report/text.h"
#include "search/backend.h"
#include "search/label.h"

namespace setpoint::cli {
namespace {

constexpr double kWeightsShare = 0.75;  // of memory, so that some room is left for KV
constexpr double kDecodes = 32;         // requests of the decode step that is looked at

struct Step {
  std::string name;
  std::vector<step::OpTime> ops;
  std::array<double, perfdb::kSourceCount> shares{};
};

// What one framework has for the model.
struct Found {
  search::Backend backend;
  std::string layout;   // empty: no plain layout serves it
  std::string problem;  // then why
  std::vector<Step> steps;
};

Step look(const serve::Engine& engine, const std::string& name, const step::StepShape& shape) {
  Step out{name, engine.steps.plan().breakdown(shape), {}};
  const perfdb::Evidence evidence = engine.steps.plan().time(shape).evidence;
  for (std::size_t i = 0; i < out.shares.size(); ++i) {
    out.shares[i] = evidence.ms[i] / std::max(evidence.total(), 1e-12);
  }
  return out;
}

// The smallest tensor-parallel worker inside a node that the weights leave room in.
Found find(search::Backend backend, const Workload& w) {
  Found found{std::move(backend), "", "no layout inside one node holds the weights", {}};
  const search::Backend& b = found.backend;
  for (int tp = 1; tp <= b.system.node.gpus; tp *= 2) {
    const model::Shard shard{tp, 1, 1, b.model->is_moe() ? tp : 1, 1, 1};
    const search::Built built = search::build(b, shard, w.nextn);
    if (!built.engine) {
      found.problem = built.text;
      continue;
    }
    const double weights = gib(built.engine->plan.weights);
    if (weights > kWeightsShare * gib(b.system.gpu.memory)) continue;
    found.layout = search::label(shard);
    const auto isl = static_cast<double>(w.isl);
    found.steps = {look(*built.engine, "prefill", {1, isl}),
                   look(*built.engine, "decode", {0, 0, 0, kDecodes, isl})};
    break;
  }
  return found;
}

base::Json found_json(const Found& found) {
  base::Json steps = base::Json::object();
  for (const Step& step : found.steps) {
    base::Json evidence = base::Json::object(), ops = base::Json::array();
    for (std::size_t i = 0; i < step.shares.size(); ++i) {
      evidence[std::string(perfdb::kSourceNames[i])] = step.shares[i];
    }
    for (const step::OpTime& op : step.ops) {
      ops.push_back({{"op", op.name},
                     {"evidence", perfdb::kSourceNames[static_cast<std::size_t>(op.source)]}});
    }
    steps[step.name] = {{"evidence", evidence}, {"ops", ops}};
  }
  const search::ResolvedFramework framework = found.backend.resolved();
  return {{"framework", framework.name},
          {"version", framework.version},
          {"note", framework.note},
          {"has_tables", framework.has_tables},
          {"borrows", framework.borrows},
          {"layout", found.layout},
          {"problem", found.layout.empty() ? base::Json(found.problem) : base::Json(nullptr)},
          {"steps", steps}};
}

// Operators down, a column for each step with its sources.
std::string found_text(const report::Screen& screen, const Found& found) {
  const search::ResolvedFramework framework = found.backend.resolved();
  std::string out = fmt::format("\n{} {}", framework.name, framework.version);
  if (found.layout.empty()) return out + ": " + found.problem + "\n";
  out += fmt::format(", layout {}\n", found.layout);
  for (const Step& step : found.steps) {
    out += report::field(screen, step.name, report::evidence(step.shares) + " (share of time)");
  }
  std::vector<report::Column> columns{{"operator", "", {}, 0, true}};
  for (const Step& step : found.steps) {
    for (const step::OpTime& op : step.ops) {
      auto& names = columns[0].cells;
      if (std::find(names.begin(), names.end(), op.name) == names.end()) names.push_back(op.name);
    }
  }
  for (const Step& step : found.steps) {
    report::Column column{step.name, "", {}, 0, true};
    for (const std::string& name : columns[0].cells) {
      const auto op = std::find_if(step.ops.begin(), step.ops.end(),
                                   [&](const step::OpTime& o) { return o.name == name; });
      column.cells.emplace_back(
          op == step.ops.end() ? "-" : perfdb::kSourceNames[static_cast<std::size_t>(op->source)]);
    }
    columns.push_back(std::move(column));
  }
  return out + report::table(screen, std::move(columns));
}

Result<int> run_support(const SubjectFlags& in, const Console& console) {
  SP_TRY(const search::Subject subject, in.resolve());
  std::vector<std::string> names = framework::framework_names();
  if (in.framework != "all") names = {in.framework};
  search::Loader loader;
  std::vector<Found> all;
  for (const std::string& name : names) {
    SP_TRY(search::Backend backend, loader.load(subject, name, subject.system));
    all.push_back(find(std::move(backend), subject.workload));
  }
  search::Resolved resolved = search::resolve(subject, all.front().backend, "");
  resolved.frameworks.clear();
  base::Json json{{"model", resolved.model}, {"system", resolved.system}};
  std::string text;
  for (const Found& found : all) {
    resolved.frameworks.push_back(found.backend.resolved());
    json["frameworks"].push_back(found_json(found));
    text += found_text(console.screen, found);
  }
  text = report::subject_text(console.screen, subject, {}, resolved) + text;
  SP_CHECK(console.print(console.json ? base::json_text(json, 2) + "\n" : text));
  const bool some =
      std::any_of(all.begin(), all.end(), [](const Found& f) { return !f.layout.empty(); });
  return some ? kDone : kNo;
}

}  // namespace

Action support_command(Flags& flags) {
  auto in = std::make_shared<SubjectFlags>();
  in->declare(flags);
  return [in](const Console& console) { return run_support(*in, console); };
}

}  // namespace setpoint::cli
