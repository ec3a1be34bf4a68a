// SPDX-License-Identifier: Apache-2.0
#include "generate/plan_json.h"

#include "base/sha256.h"
#include "report/json.h"

namespace setpoint::generate {
namespace {

using base::Json;

constexpr int kFormat = 1;

template <class Enum, std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

Json role_json(const RoleSettings& r) {
  const model::Shard& s = r.shard;
  return {{"role", name_of(kRoleNames, r.role)},
          {"workers", r.workers},
          {"system", r.system},
          {"tp", s.tp},
          {"pp", s.pp},
          {"dp", s.dp},
          {"cp", s.cp},
          {"moe_tp", s.moe_tp},
          {"moe_ep", s.moe_ep},
          {"gpus", r.gpus},
          {"gpus_per_node", r.gpus_per_node},
          {"nodes", r.nodes},
          {"max_requests", r.max_requests},
          {"max_tokens", r.max_tokens},
          {"chunk_tokens", r.chunk_tokens},
          {"max_len", r.max_len},
          {"kv_page", r.kv_page},
          {"kv_buffer_tokens", r.kv_buffer_tokens},
          {"kv_fraction", r.kv_fraction},
          {"fp8_kv", r.fp8_kv},
          {"online_fp8", r.online_fp8},
          {"graph_sizes", r.graph_sizes}};
}

Json placement_json(const Placement& placement) {
  Json out = Json::array();
  for (const PlacedWorker& worker : placement.workers) {
    Json parts = Json::array();
    for (const NodePart& part : worker.parts) {
      parts.push_back({{"node", part.node}, {"gpus", part.devices}});
    }
    out.push_back({{"worker", worker.name}, {"parts", parts}});
  }
  return out;
}

Json options_json(const Options& o) {
  return {{"target", name_of(kTargetNames, o.target)},
          {"served_name", o.served_name},
          {"model_path", o.model_path},
          {"image", o.image},
          {"namespace", o.namespace_name},
          {"port", o.port},
          {"prefix_cache", o.prefix_cache},
          {"trust_remote_code", o.trust_remote_code},
          {"lenient", o.lenient}};
}

Json files_json(const Files& files) {
  Json out = Json::array();
  for (const File& file : files) {
    out.push_back({{"path", file.path}, {"sha256", base::sha256_hex(file.text)}});
  }
  return out;
}

}  // namespace

Json settings_json(const Settings& s) {
  Json roles = Json::array();
  for (const RoleSettings& role : s.roles) roles.push_back(role_json(role));
  return {{"model", s.model},
          {"served_name", s.served_name},
          {"mode", name_of(kModeNames, s.mode)},
          {"moe", s.moe},
          {"nextn", s.nextn},
          {"prefix_cache", s.prefix_cache},
          {"gpus", s.gpus()},
          {"roles", roles}};
}

Json plan_json(const Plan& plan, const Files& others) {
  const Deployment& d = *plan.deployment;
  Json out{{"format", kFormat},
           {"setpoint", SETPOINT_VERSION},
           {"versions",
            {{"framework", plan.settings.framework},
             {"engine", plan.settings.engine_version},
             {"tables", plan.settings.table_version},
             {"flags", plan.flags.table_version()}}},
           {"options", options_json(plan.options)},
           {"inputs", report::subject_json(d.request.subject, d.inputs)},
           {"predicted", report::config_json(d.estimate)}};
  if (d.stated) out["stated"] = *d.stated;
  out["settings"] = settings_json(plan.settings);
  out["nodes"] = plan.placement.nodes;
  out["placement"] = placement_json(plan.placement);
  out["warnings"] = plan.settings.warnings;
  out["files"] = files_json(others);
  return out;
}

File plan_file(const Plan& plan, const Files& others) {
  return {std::string(kPlanFile), base::json_text(plan_json(plan, others), 2) + "\n", false};
}

}  // namespace setpoint::generate
