// SPDX-License-Identifier: Apache-2.0
#include "search/backend.h"

#include <fmt/format.h>

#include "model/plan.h"
#include "model/read.h"

namespace setpoint::search {
namespace {

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "; " + b;
}

}  // namespace

Result<hw::System> find_system(const Subject& subject, const std::string& name) {
  if (!subject.system_spec.empty() && name == subject.system) {
    return hw::parse_system_spec(name, subject.system_spec);
  }
  return hw::find_system(name);
}

const std::string& Backend::version() const {
  return db->version().empty() ? facts.facts_version : db->version();
}

ResolvedFramework Backend::resolved() const {
  std::string note = facts.version_note;
  if (const auto& asked = db->asked(); asked && *asked != db->version()) {
    note = joined(fmt::format("{} {} has no tables for {}: those of {} are used", facts.name,
                              *asked, system.name, db->version()),
                  note);
  }
  return {.name = facts.name,
          .version = version(),
          .note = note,
          .has_tables = db->has_tables(),
          .borrows = db->borrows() && system.gpu.sm > 0,  // only from its own architecture
          .precision = precision};
}

Result<Backend> Loader::load(const Subject& subject, const std::string& framework,
                             const std::string& system_name) {
  SP_TRY(const hw::System system, find_system(subject, system_name));
  const std::string model_key = fmt::format("{}\n{}\n{}\n{}", subject.model, subject.precision,
                                            system.gpu.sm, subject.alpha.value_or(-1));
  auto model = models_.find(model_key);
  if (!model) {
    SP_TRY(model::ModelSpec read,
           model::read_model(subject.model, subject.precision, system.gpu.sm));
    read.alpha = subject.alpha.value_or(read.alpha);
    model = models_.keep(model_key, std::make_shared<const model::ModelSpec>(std::move(read)));
  }
  const std::string db_key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", subject.database.string(),
                                         system.name, subject.system_spec, framework,
                                         subject.framework_version, static_cast<int>(subject.data));
  auto db = databases_.find(db_key);
  if (!db) {
    SP_TRY(perfdb::PerfDb opened, perfdb::PerfDb::open({.file = subject.database,
                                                        .system = system,
                                                        .framework = framework,
                                                        .version = subject.framework_version,
                                                        .mode = subject.data}));
    db = databases_.keep(db_key, std::make_shared<const perfdb::PerfDb>(std::move(opened)));
  }
  SP_TRY(framework::Facts facts, framework::find_facts(framework, db->version()));
  SP_TRY(const model::Precision precision,
         model::resolve_precision(*model, facts, system, subject.quant));
  return Backend{model, std::move(facts), system, db, precision};
}

Resolved resolve(const Subject& subject, const Backend& backend, const std::string& decode_system) {
  const model::ModelSpec& model = *backend.model;
  std::vector<std::string> warnings = model.warnings;
  const std::int64_t longest = subject.workload.isl + subject.workload.osl;
  if (model.max_positions > 0 && longest > model.max_positions) {
    warnings.push_back(
        fmt::format("requests of {} tokens exceed the {} positions that the model's "
                    "config allows",
                    longest, model.max_positions));
  }
  return {.model = model.id.empty() ? subject.model : model.id,
          .architecture = model.architecture,
          .family = model.family,
          .moe = model.is_moe(),
          .parameters = model.parameters(),
          .alpha = model.alpha,
          .max_positions = model.max_positions,
          .mtp_layers = model.mtp_layers,
          .checkpoint = model.quant,
          .checkpoint_assumed = model.quant_assumed,
          .system = subject.system,
          .decode_system = decode_system.empty() ? subject.system : decode_system,
          .frameworks = {},
          .warnings = std::move(warnings)};
}

Built build(const Backend& backend, const model::Shard& shard, int nextn) {
  Built built;
  const model::PlanInput input{.model = *backend.model,
                               .shard = shard,
                               .precision = backend.precision,
                               .framework = backend.facts,
                               .system = backend.system,
                               .nextn = nextn};
  built.text = model::framework_reason(input);
  if (!built.text.empty()) {
    built.bucket = Bucket::framework;
    return built;
  }
  built.text = model::infeasible_reason(input);
  if (!built.text.empty()) return built;
  model::Plan plan = model::plan(input);
  if (plan.weights >= backend.system.gpu.memory) {
    built.bucket = Bucket::out_of_memory;
    built.text = fmt::format("weights of {:.1f} GiB per GPU on {:.1f} GiB", gib(plan.weights),
                             gib(backend.system.gpu.memory));
    return built;
  }
  auto bound = step::BoundPlan::bind(plan, *backend.db);
  if (!bound) {
    built.bucket =
        backend.db->mode() == perfdb::DataMode::measured ? Bucket::missing_data : Bucket::framework;
    built.text = bound.error().text;
    return built;
  }
  built.engine.emplace(serve::Engine{backend.model.get(), shard, backend.precision, backend.facts,
                                     backend.system, std::move(plan),
                                     serve::StepCache(std::move(bound).value())});
  return built;
}

}  // namespace setpoint::search
