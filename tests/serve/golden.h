// SPDX-License-Identifier: Apache-2.0
// The recorded single-point estimates of AIConfigurator 0.12.0 (tests/golden/iteration.jsonl) and
// engines of ours for the same deployments, as we model them or with the recorded tool's own faults
// added back. Engines need the imported operator tables.
#pragma once

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "faults.h"
#include "model/read.h"
#include "serve/engine.h"

namespace setpoint::serve::golden {

struct Record {
  std::string id, model, system, framework, mode;
  Workload workload;
  model::Shard shard;
  std::int64_t batch = 0, budget = 0;
  bool estimated = false;          // the tool had no table for some operator and estimated it
  std::vector<std::string> quant;  // gemm kv fmha moe
  std::map<std::string, double> context_ms, generation_ms;  // by operator, static modes
  double mixed_ms = 0, decode_ms = 0;                       // aggregated
  std::vector<double> memory_gib;  // weights activations kv collective context
  std::int64_t prefill_workers = 0, prefill_batch = 0, decode_workers = 0, decode_batch = 0;
  double ttft_ms = 0, tpot_ms = 0, requests_per_s = 0, tokens_per_s_per_gpu = 0;

  std::string title() const {
    const auto slash = model.find('/');
    return id + " " + model.substr(slash + 1) + " " + system + " " + framework + " " + mode +
           " tp" + std::to_string(shard.tp) + " pp" + std::to_string(shard.pp) + " dp" +
           std::to_string(shard.dp) + " ep" + std::to_string(shard.moe_ep) + " b" +
           std::to_string(batch) + (estimated ? " (estimated)" : "");
  }
  static double sum(const std::map<std::string, double>& ops) {
    double total = 0;
    for (const auto& [name, ms] : ops) total += ms;
    return total;
  }
};

inline Record parse(const base::Json& j) {
  Record r;
  r.id = j["id"];
  r.model = j["model"];
  r.system = j["system"];
  r.framework = j["framework"];
  r.mode = j["mode"];
  r.workload.isl = j["isl"];
  r.workload.osl = j["osl"];
  r.workload.prefix = j["prefix"];
  r.workload.nextn = j["nextn"][0];
  r.workload.nextn_accepted = j["nextn"][1];
  r.shard.tp = j["shard"][0];
  r.shard.pp = j["shard"][1];
  r.shard.dp = j["shard"][2];
  r.shard.moe_tp = j["shard"][3];
  r.shard.moe_ep = j["shard"][4];
  r.estimated = j["database"] == "HYBRID";
  r.batch = j.value("batch", 0);
  r.budget = j.value("ctx", 0);
  r.quant = j["quant"].get<std::vector<std::string>>();
  r.context_ms = j.value("context_ms", std::map<std::string, double>{});
  r.generation_ms = j.value("generation_ms", std::map<std::string, double>{});
  r.mixed_ms = j.value("mixed_ms", 0.0);
  r.decode_ms = j.value("decode_ms", 0.0);
  r.memory_gib = j.value("memory_gib", std::vector<double>{});
  if (r.mode == "disagg") {
    r.prefill_workers = j["prefill"][0];
    r.prefill_batch = j["prefill"][1];
    r.decode_workers = j["decode"][0];
    r.decode_batch = j["decode"][1];
  }
  const base::Json& out = j["out"];
  r.ttft_ms = out["ttft_ms"];
  r.tpot_ms = out["tpot_ms"];
  r.requests_per_s = out["requests_per_s"];
  r.tokens_per_s_per_gpu = out["tokens_per_s_per_gpu"];
  return r;
}

inline const std::vector<Record>& records() {
  static const std::vector<Record> all = [] {
    std::vector<Record> list;
    std::ifstream file(std::string(SETPOINT_SOURCE_DIR) + "/tests/golden/iteration.jsonl");
    for (std::string line; std::getline(file, line);)
      list.push_back(parse(base::Json::parse(line)));
    return list;
  }();
  return all;
}

// The imported tables; empty: there are none.
inline std::filesystem::path database() {
  if (const char* path = std::getenv("SETPOINT_DB")) return path;
  const std::filesystem::path built =
      std::string(SETPOINT_BINARY_DIR) + "/share/setpoint/perfdb.db";
  return std::filesystem::exists(built) ? built : std::filesystem::path();
}

inline const perfdb::PerfDb& open_database(const std::string& system,
                                           const std::string& framework) {
  static std::map<std::pair<std::string, std::string>, perfdb::PerfDb> open;
  const auto key = std::make_pair(system, framework);
  auto found = open.find(key);
  if (found == open.end()) {
    perfdb::Request request;
    request.file = database();
    request.system = hw::find_system(system).value();
    request.framework = framework;
    found = open.emplace(key, perfdb::PerfDb::open(request).value()).first;
  }
  return found->second;
}

enum class View { ours, with_faults };

// The formats of the record (its tool serves fp8 KV where the checkpoint names none; ours does
// not). `phase` 4: the decode side of a disaggregated record.
inline Result<Engine> make_engine(const Record& r, View view, std::size_t phase = 0) {
  static std::deque<model::ModelSpec> specs;  // engines point to their model
  hw::System system = hw::find_system(r.system).value();
  SP_TRY(framework::Facts facts, framework::find_facts(r.framework, ""));
  // Some records cut attention in ways that the framework cannot be told.
  facts.attention_tp_and_dp = true;
  SP_TRY(model::ModelSpec spec, model::read_model(r.model, "", system.gpu.sm));
  SP_TRY(const model::Precision own, model::resolve_precision(spec, facts, system, {}));
  const std::size_t q = r.quant.size() > phase ? phase : 0;
  std::vector<model::QuantOverride> overrides{{"kv", r.quant[q + 1]}, {"fmha", r.quant[q + 2]}};
  if (r.quant[q] != ops::name(own.gemm)) overrides.push_back({"gemm", r.quant[q]});
  if (spec.is_moe() && r.quant[q + 3] != ops::name(own.moe)) {
    overrides.push_back({"moe", r.quant[q + 3]});
  }
  SP_TRY(const model::Precision precision,
         model::resolve_precision(spec, facts, system, overrides));
  specs.push_back(std::move(spec));
  model::ModelSpec& kept = specs.back();
  const Subject subject{kept, r.shard, r.framework, facts, system};
  if (view == View::with_faults) spoil_model(subject);
  const model::PlanInput input{kept, r.shard, precision, facts, system, r.workload.nextn};
  if (const std::string why = model::infeasible_reason(input); !why.empty()) {
    return Error::bad_input(why);
  }
  model::Plan plan = model::plan(input);
  if (view == View::with_faults) spoil_plan(subject, plan);
  SP_TRY(step::BoundPlan bound, step::BoundPlan::bind(plan, open_database(r.system, r.framework)));
  return Engine{&kept, r.shard, precision, facts, system, plan, StepCache(std::move(bound)), {}};
}

}  // namespace setpoint::serve::golden
