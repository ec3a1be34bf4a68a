// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include "ops/quant.h"
#include "perfdb/answer.h"
#include "search/inputs.h"

namespace setpoint::report {
namespace {

using base::Json;

template <class Enum, std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

Json bound(const std::optional<Ms>& value) { return value ? Json(value->value()) : Json(nullptr); }
// 0 stands for "there is none" in these two: one output token has no time per further token.
Json or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json quant_json(const model::Precision& p) {
  return {{"gemm", ops::name(p.gemm)},
          {"moe", ops::name(p.moe)},
          {"kv", ops::name(p.kv)},
          {"fmha", ops::name(p.fmha)},
          {"comm", ops::name(p.comm)}};
}

Json memory_json(const MemoryUse& use) {
  return {{"weights", gib(use.weights)},
          {"activations", gib(use.activations)},
          {"kv", gib(use.kv)},
          {"collective", gib(use.collective)},
          {"context", gib(use.context)},
          {"total", gib(use.total())},
          {"capacity", gib(use.capacity)}};
}

Json evidence_json(const std::array<double, 6>& shares) {
  Json out = Json::object();
  for (std::size_t i = 0; i < shares.size(); ++i)
    out[std::string(perfdb::kSourceNames[i])] = shares[i];
  return out;
}

Json configs_json(const std::vector<Estimate>& estimates) {
  Json out = Json::array();
  for (const Estimate& estimate : estimates) out.push_back(config_json(estimate));
  return out;
}

Json frameworks_json(const std::vector<search::ResolvedFramework>& frameworks) {
  Json out = Json::array();
  for (const search::ResolvedFramework& f : frameworks) {
    out.push_back({{"name", f.name},
                   {"version", f.version},
                   {"note", f.note},
                   {"has_tables", f.has_tables},
                   {"borrows", f.borrows},
                   {"quant", quant_json(f.precision)}});
  }
  return out;
}

// Only those that replace a default.
Json settings_json(const search::EngineSettings& settings) {
  Json out = Json::object();
  for (const auto& field : search::kEngineFields) {
    if (const auto value = field.get(settings)) {
      if (field.range().whole) {
        out[std::string(field.name)] = static_cast<std::int64_t>(*value);
      } else {
        out[std::string(field.name)] = *value;
      }
    }
  }
  return out;
}

Json target_json(const search::Target& target) {
  if (target.gpus > 0) return {{"gpus", target.gpus}};
  if (target.request_rate > 0) return {{"request_rate", target.request_rate}};
  return {{"concurrency", target.concurrency}};
}

Json search_inputs_json(const search::SearchRequest& request, const Assumed& assumed,
                        const search::SearchResult& result) {
  Json inputs = subject_json(request.subject, result.inputs);
  inputs["target"] = target_json(request.target);
  inputs["sla"] = {{"ttft_ms", bound(request.sla.ttft)},
                   {"tpot_ms", bound(request.sla.tpot)},
                   {"request_latency_ms", bound(request.sla.request_latency)}};
  Json modes = Json::array();
  for (const search::ModeResult& mode : result.modes)
    modes.push_back(name_of(kModeNames, mode.mode));
  inputs["modes"] = modes;
  inputs["assumed"] = assumed;
  return inputs;
}

Json no_answer_json(const search::NoAnswer& none) {
  return {{"binding_limit", none.binding_limit},
          {"text", none.text},
          {"best_reachable",
           {{"ttft_ms", bound(none.best_ttft)},
            {"tpot_ms", bound(none.best_tpot)},
            {"request_latency_ms", bound(none.best_request_latency)}}},
          {"nearest", configs_json(none.nearest)}};
}

Json refusal_json(const search::Refusal& refusal) {
  return {{"role", name_of(kRoleNames, refusal.role)},
          {"memory_gib", memory_json(refusal.memory)},
          {"kv_gib_per_sequence", gib(refusal.kv_per_sequence)},
          {"largest_batch", refusal.largest_batch},
          {"longest_length", refusal.longest_length}};
}

Json breakdown_json(const std::vector<search::Breakdown>& breakdown) {
  Json out = Json::object();
  for (const search::Breakdown& phase : breakdown) {
    Json ops = Json::array();
    for (const step::OpTime& op : phase.ops) {
      ops.push_back({{"op", op.name},
                     {"count", op.count},
                     {"ms", op.time.value()},
                     {"evidence", name_of(perfdb::kSourceNames, op.source)},
                     {"hidden", op.hidden}});
    }
    out[phase.phase] = ops;
  }
  return out;
}

}  // namespace

Json subject_json(const search::Subject& subject, const search::Resolved& resolved) {
  Json overrides = Json::object();
  for (const model::QuantOverride& o : subject.quant) overrides[o.key] = o.mode;
  return {{"model", resolved.model},
          {"architecture", resolved.architecture},
          {"family", resolved.family},
          {"parameters", resolved.parameters},
          {"moe", resolved.moe},
          {"system", resolved.system},
          {"decode_system", resolved.decode_system},
          {"spec", text_or_null(subject.system_spec)},
          {"framework_version", text_or_null(subject.framework_version)},
          {"frameworks", frameworks_json(resolved.frameworks)},
          {"isl", subject.workload.isl},
          {"osl", subject.workload.osl},
          {"prefix", subject.workload.prefix},
          {"nextn", subject.workload.nextn},
          {"nextn_accepted", subject.workload.nextn_accepted},
          {"precision", text_or_null(subject.precision)},
          {"quant_overrides", overrides},
          {"alpha", resolved.alpha},
          {"data", name_of(perfdb::kDataModeNames, subject.data)},
          {"db", text_or_null(subject.database.string())},
          {"warnings", resolved.warnings}};
}

Json worker_json(const Worker& w) {
  return {{"role", name_of(kRoleNames, w.role)},
          {"count", w.count},
          {"system", w.system},
          {"tp", w.shard.tp},
          {"pp", w.shard.pp},
          {"dp", w.shard.dp},
          {"moe_tp", w.shard.moe_tp},
          {"moe_ep", w.shard.moe_ep},
          {"cp", w.shard.cp},
          {"batch", w.batch},
          {"max_num_tokens", w.max_num_tokens},
          {"memory_gib", gib(w.memory.total())},
          {"memory_parts_gib", memory_json(w.memory)},
          {"kv_tokens", w.kv_tokens},
          {"quant", quant_json(w.precision)}};
}

Json config_json(const Estimate& e) {
  const Performance& p = e.performance;
  const auto replicas = static_cast<double>(e.replicas);
  Json workers = Json::array();
  for (const Worker& worker : e.workers) workers.push_back(worker_json(worker));
  return {{"mode", name_of(kModeNames, e.mode)},
          {"framework", e.framework},
          {"framework_version", e.framework_version},
          {"system", e.workers.empty() ? "" : e.workers.front().system},
          {"gpus_used", e.gpus_used()},
          {"replicas", e.replicas},
          {"gpus_per_replica", e.gpus_per_replica},
          {"concurrency", p.concurrency * replicas},
          {"ttft_ms", p.ttft.value()},
          {"tpot_ms", or_null(p.tpot.value())},
          {"request_latency_ms", p.request_latency.value()},
          {"tokens_per_s_per_gpu", e.tokens_per_s_per_gpu()},
          {"tokens_per_s_per_user", or_null(e.tokens_per_s_per_user())},
          {"requests_per_s", p.requests_per_s * replicas},
          {"gpus_asked", e.gpus_asked},
          {"evidence", evidence_json(p.evidence)},
          {"workers", workers},
          {"warnings", e.warnings}};
}

Json search_json(const search::SearchRequest& request, const Assumed& assumed,
                 const search::SearchResult& result) {
  Json out;
  out["inputs"] = search_inputs_json(request, assumed, result);
  out["best"] = nullptr;
  if (result.best) {
    out["best"] = {{"mode", name_of(kModeNames, result.best->first)},
                   {"rank", result.best->second + 1}};
  }
  if (result.no_answer) out["no_answer"] = no_answer_json(*result.no_answer);
  for (const search::ModeResult& mode : result.modes) {
    out[std::string(name_of(kModeNames, mode.mode))] = {{"configs", configs_json(mode.configs)},
                                                        {"frontier", configs_json(mode.frontier)}};
  }
  out["why"] = result.why;
  out["rejected"] = Json(result.rejected);
  out["incomplete"] = !result.missing_data.empty();
  out["missing_data"] = result.missing_data;
  out["stats"] = {{"points", result.stats.points},
                  {"candidates", result.stats.candidates},
                  {"met", result.stats.met},
                  {"wall_ms", result.stats.wall_ms},
                  {"load_ms", result.stats.load_ms}};
  return out;
}

Json estimate_json(const search::EstimateRequest& request, const Assumed& assumed,
                   const search::EstimateAnswer& answer) {
  Json out = answer_json(answer);
  out["inputs"] = subject_json(request.subject, answer.inputs);
  out["inputs"]["settings"] = settings_json(request.settings);
  out["inputs"]["assumed"] = assumed;
  return out;
}

Json answer_json(const search::EstimateAnswer& answer) {
  if (answer.refusal) {
    return {{"error", answer.refusal->text}, {"refusal", refusal_json(*answer.refusal)}};
  }
  Json out = config_json(*answer.estimate);
  if (!answer.breakdown.empty()) out["breakdown"] = breakdown_json(answer.breakdown);
  if (const auto& warnings = answer.inputs.warnings; !warnings.empty()) {
    out["inputs"]["warnings"] = warnings;
  }
  return out;
}

}  // namespace setpoint::report
