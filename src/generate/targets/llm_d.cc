// SPDX-License-Identifier: Apache-2.0
// llm-d: values for its modelservice chart, and patches for an overlay of its guides. Both give the
// engine its whole command ("custom"): what runs is what was checked, nothing is added by the chart
// but the routing sidecar in front of decode workers.
#include <fmt/format.h>

#include "generate/containers.h"
#include "generate/kube.h"
#include "generate/shell.h"
#include "generate/target.h"
#include "generate/yaml.h"

namespace setpoint::generate {
namespace {

using base::Json;

constexpr std::int64_t kBehindSidecar =
    8200;  // where decode listens when the sidecar stands before

// One worker kind of the chart: aggregated workers are its "decode".
struct Part {
  const RoleSettings* role = nullptr;
  std::string name;  // "decode", "prefill"
  Command command;
  Place place;
  PodStorage storage;
};

bool disaggregated(const Plan& plan) { return plan.settings.mode == Mode::disagg; }

// The chart gives every pod of a worker the same command: a shell decides by the pod's rank.
std::vector<Word> by_rank(Command first, Command other) {
  first.environment.clear();  // the container has it
  other.environment.clear();
  return {{"bash"},
          {"-c"},
          {"if [ \"${LWS_WORKER_INDEX}\" = 0 ]; then\n  exec" + shell_command(first, 1) +
           "\nelse\n  exec" + shell_command(other, 1) + "\nfi\n"}};
}

Result<Part> part_of(const Plan& plan, const RoleSettings& role) {
  Part part;
  part.role = &role;
  part.name = role.role == Role::prefill ? "prefill" : "decode";
  const bool behind = disaggregated(plan) && role.role == Role::decode;
  part.place.http_port = behind ? kBehindSidecar : plan.options.port;
  part.place.own_address = {"$(POD_IP)", true};
  if (disaggregated(plan)) {
    part.place.bootstrap_port = 8998;
    part.place.side_channel_port = 20097;
  }
  if (role.nodes > 1) {
    part.place.head_port = 20000;
    part.place.rpc_port = 13345;
    part.place.head_address = {"${LWS_LEADER_ADDRESS}", true};
  }
  part.place.config_path = fmt::format("{}/{}.yaml", kConfigFolder, part.name);
  part.storage = storage_of(plan, role);
  part.storage.cache_claim.clear();
  SP_TRY(part.command, worker_command(plan.settings, role, plan.flags, part.place));
  if (role.nodes > 1) {
    Place follower = part.place;
    follower.first_node = false;
    follower.node_rank = follower_rank(role.nodes, {"$((LWS_WORKER_INDEX))", true});
    SP_TRY(const Command other, worker_command(plan.settings, role, plan.flags, follower));
    part.command.argv = by_rank(part.command, other);
  }
  if (part.command.config_yaml) part.storage.config_map = app_name(plan) + "-engine";
  return part;
}

Json parallelism(const RoleSettings& role) {
  const std::int64_t local = std::max<std::int64_t>(1, role.shard.dp / role.nodes);
  return {{"tensor", role.shard.tp},
          {"data", role.shard.dp},
          {"dataLocal", local},
          {"workers", role.nodes}};
}

Json chart_part(const Plan& plan, const Part& part) {
  Json container = worker_container(plan, *part.role, part.command, part.place, part.storage);
  container["modelCommand"] = "custom";
  container["mountModelVolume"] = false;  // the cache is an ordinary volume below
  return {{"create", true},
          {"replicas", part.role->workers},
          {"parallelism", parallelism(*part.role)},
          {"containers", Json::array({container})},
          {"volumes", volumes(part.storage)}};
}

Json chart_values(const Plan& plan, const std::vector<Part>& parts, const Sidecar& sidecar) {
  const std::string app = app_name(plan);
  bool several = false;
  for (const Part& part : parts) several = several || part.role->nodes > 1;
  Json proxy = {{"enabled", disaggregated(plan)}};
  if (disaggregated(plan)) {
    proxy.update({{"image", sidecar.image},
                  {"targetPort", kBehindSidecar},
                  {"connector", sidecar.connector},
                  {"secure", false}});
  }
  Json out = {{"fullnameOverride", app},
              {"multinode", several},
              {"modelArtifacts",
               {{"name", plan.settings.served_name},
                {"uri", "hf://" + plan.settings.model},
                {"size", std::to_string(model_gib(plan)) + "Gi"},
                {"labels", {{"llm-d.ai/inferenceServing", "true"}, {"llm-d.ai/model", app}}}}},
              {"routing", {{"servicePort", plan.options.port}, {"proxy", proxy}}}};
  for (const Part& part : parts) out[part.name] = chart_part(plan, part);
  if (!out.contains("prefill")) out["prefill"] = {{"create", false}, {"replicas", 0}};
  return out;
}

// A patch of the guides' Deployment of this role.
Json guide_patch(const Plan& plan, const Part& part) {
  Json container = worker_container(plan, *part.role, part.command, part.place, part.storage);
  container["name"] = "modelserver";
  container.erase("image");  // kustomization.yaml names it once
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", part.name}}},
          {"spec",
           {{"replicas", part.role->workers},
            {"template",
             {{"spec",
               {{"containers", Json::array({container})}, {"volumes", volumes(part.storage)}}}}}}}};
}

Json kustomization(const Plan& plan, const std::vector<Part>& parts) {
  const Settings& s = plan.settings;
  const std::string image =
      plan.options.image.empty() ? engine_image(s.framework, s.engine_version) : plan.options.image;
  const std::size_t colon = image.rfind(':');
  const std::string base = disaggregated(plan) ? "pd/" + s.framework : "default";
  Json patches = Json::array();
  for (const Part& part : parts) patches.push_back({{"path", "patch-" + part.name + ".yaml"}});
  Json out = {
      {"apiVersion", "kustomize.config.k8s.io/v1beta1"},
      {"kind", "Kustomization"},
      {"resources", Json::array({"../../../../../recipes/modelserver/base/single-host/" + base})},
      {"namePrefix", app_name(plan) + "-"},
      {"images", Json::array({{{"name", "REPLACE_MODEL_SERVER_IMAGE"},
                               {"newName", image.substr(0, colon)},
                               {"newTag", colon == std::string::npos ? "latest"
                                                                     : image.substr(colon + 1)}}})},
      {"patches", patches}};
  return out;
}

std::string config_document(const Plan& plan, const std::vector<Part>& parts) {
  Json data = Json::object();
  for (const Part& part : parts) {
    if (part.command.config_yaml) data[part.name + ".yaml"] = *part.command.config_yaml;
  }
  if (data.empty()) return {};
  return yaml({{"apiVersion", "v1"},
               {"kind", "ConfigMap"},
               {"metadata", metadata(app_name(plan) + "-engine", plan, labels(plan, "engine"))},
               {"data", data}});
}

}  // namespace

Result<Files> llm_d_files(const Plan& plan) {
  const Settings& s = plan.settings;
  const Sidecar sidecar = llm_d_sidecar(s.framework);
  if (disaggregated(plan) && sidecar.connector.empty()) {
    return Error{ErrorCode::no,
                 fmt::format("--target llm-d: its routing sidecar has no connector for {}; targets "
                             "that can: dynamo, run, k8s, slurm",
                             s.framework)};
  }
  std::vector<Part> parts;
  bool several = false;
  for (const RoleSettings& role : s.roles) {
    SP_TRY(Part part, part_of(plan, role));
    several = several || role.nodes > 1;
    parts.push_back(std::move(part));
  }
  if (several && s.framework == "trtllm") {
    return Error{
        ErrorCode::no,
        "--target llm-d: a TensorRT-LLM worker over several nodes is started by MPI, which "
        "its pods do not bring; targets that do: dynamo, slurm"};
  }
  Files out{{"values.yaml", yaml(chart_values(plan, parts, sidecar)), false}};
  const std::string configs = config_document(plan, parts);
  if (!configs.empty()) out.push_back({"engine-config.yaml", configs, false});
  if (several) return out;  // the guides' bases are for one host
  for (const Part& part : parts) {
    out.push_back({"overlay/patch-" + part.name + ".yaml", yaml(guide_patch(plan, part)), false});
  }
  out.push_back({"overlay/kustomization.yaml", yaml(kustomization(plan, parts)), false});
  return out;
}

}  // namespace setpoint::generate
