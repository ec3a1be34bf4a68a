// SPDX-License-Identifier: Apache-2.0
// Plain Kubernetes: a Deployment and a Service for each worker of one node, a LeaderWorkerSet and a
// Service for each worker of several; in front of all a Service of the model's name, which balances
// aggregated workers itself and reaches the engine's router where there are two pools.
#include <fmt/format.h>

#include "generate/containers.h"
#include "generate/kube.h"
#include "generate/target.h"
#include "generate/yaml.h"

namespace setpoint::generate {
namespace {

using base::Json;

constexpr std::string_view kLeaderIndex = "leaderworkerset.sigs.k8s.io/worker-index";
constexpr std::int64_t kBootstrapPort = 8998, kSideChannelPort = 20097, kHeadPort = 20000,
                       kRpcPort = 13345;

// Everything about one worker that its objects share. Ports may be the same for all: a pod has its
// own address.
struct Pod {
  const RoleSettings* role = nullptr;
  std::string name, role_name;
  Place place;
  PodStorage storage;
};

Pod pod_of(const Plan& plan, const PlacedWorker& worker) {
  const RoleSettings& role = plan.settings.roles[worker.role];
  Pod pod;
  pod.role = &role;
  pod.name = app_name(plan) + "-" + worker.name;
  pod.role_name = kRoleNames[static_cast<std::size_t>(role.role)];
  pod.place.http_port = plan.options.port;
  pod.place.own_address = {"$(POD_IP)", true};
  if (plan.settings.mode == Mode::disagg) {
    pod.place.bootstrap_port = kBootstrapPort;
    pod.place.side_channel_port = kSideChannelPort;
  }
  if (role.nodes > 1) {
    pod.place.head_port = kHeadPort;
    pod.place.rpc_port = kRpcPort;
    pod.place.head_address = {"$(LWS_LEADER_ADDRESS)", true};
  }
  pod.storage = storage_of(plan, role);
  pod.place.config_path = fmt::format("{}/{}.yaml", kConfigFolder, pod.role_name);
  return pod;
}

Json labels_of(const Plan& plan, const Pod& pod) {
  Json out = labels(plan, pod.role_name);
  out["app.kubernetes.io/instance"] = pod.name;
  return out;
}

Result<Json> pod_template(const Plan& plan, const Pod& pod, const Place& place) {
  SP_TRY(const Command command, worker_command(plan.settings, *pod.role, plan.flags, place));
  PodStorage storage = pod.storage;
  if (command.config_yaml) storage.config_map = app_name(plan) + "-engine";
  return Json{
      {"metadata", {{"labels", labels_of(plan, pod)}}},
      {"spec",
       {{"containers", Json::array({worker_container(plan, *pod.role, command, place, storage)})},
        {"volumes", volumes(storage)}}}};
}

Result<Json> deployment(const Plan& plan, const Pod& pod) {
  SP_TRY(const Json pod_json, pod_template(plan, pod, pod.place));
  const Json labels = labels_of(plan, pod);
  return Json{{"apiVersion", "apps/v1"},
              {"kind", "Deployment"},
              {"metadata", metadata(pod.name, plan, labels)},
              {"spec",
               {{"replicas", 1},
                {"strategy", {{"type", "Recreate"}}},  // two copies would need twice the GPUs
                {"selector", {{"matchLabels", labels}}},
                {"template", pod_json}}}};
}

Result<Json> leader_worker_set(const Plan& plan, const Pod& pod) {
  SP_TRY(const Json leader, pod_template(plan, pod, pod.place));
  Place follower = pod.place;
  follower.first_node = false;
  follower.node_rank = follower_rank(pod.role->nodes, {"$(LWS_WORKER_INDEX)", true});
  SP_TRY(const Json others, pod_template(plan, pod, follower));
  return Json{{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
              {"kind", "LeaderWorkerSet"},
              {"metadata", metadata(pod.name, plan, labels_of(plan, pod))},
              {"spec",
               {{"replicas", 1},
                {"leaderWorkerTemplate",
                 {{"size", pod.role->nodes},
                  {"restartPolicy", "RecreateGroupOnPodRestart"},
                  {"leaderTemplate", leader},
                  {"workerTemplate", others}}}}}};
}

Json service(const Plan& plan, const std::string& name, const Json& labels, Json selector,
             const Json& ports, bool leaders) {
  if (leaders) selector[std::string(kLeaderIndex)] = "0";
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", metadata(name, plan, labels)},
          {"spec", {{"selector", selector}, {"ports", ports}}}};
}

Json service_port(std::string_view name, std::int64_t port) {
  return {{"name", name}, {"port", port}, {"targetPort", port}};
}

// The options files of the engine, one for each role, beside each other in one ConfigMap.
Result<Json> config_map(const Plan& plan) {
  Json data = Json::object();
  for (const PlacedWorker& worker : plan.placement.workers) {
    const Pod pod = pod_of(plan, worker);
    SP_TRY(const Command command, worker_command(plan.settings, *pod.role, plan.flags, pod.place));
    if (command.config_yaml) data[pod.role_name + ".yaml"] = *command.config_yaml;
  }
  if (data.empty()) return data;
  return Json{{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", metadata(app_name(plan) + "-engine", plan, labels(plan, "engine"))},
              {"data", data}};
}

// The engine's router before two pools, with its own options file where it has one.
Result<std::vector<Json>> router(const Plan& plan) {
  std::vector<PoolMember> members;
  for (const PlacedWorker& worker : plan.placement.workers) {
    const Pod pod = pod_of(plan, worker);
    members.push_back({pod.role->role, {pod.name, false}, pod.place.http_port, kBootstrapPort});
  }
  const std::string name = app_name(plan) + "-router";
  Place place;
  place.http_port = plan.options.port;
  place.config_path = fmt::format("{}/router.yaml", kConfigFolder);
  SP_TRY(const auto command, router_command(plan.settings, plan.flags, members, place));
  if (!command) {
    return Error{ErrorCode::no, fmt::format("--target k8s: {} has no router for two pools; targets "
                                            "that bring one: dynamo, llm-d",
                                            plan.settings.framework)};
  }
  PodStorage storage{.cache_claim = {}, .config_map = {}, .shm_gib = 1};
  std::vector<Json> out;
  const Json labels = generate::labels(plan, "router");
  if (command->config_yaml) {
    storage.config_map = name;
    out.push_back({{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata", metadata(name, plan, labels)},
                   {"data", {{"router.yaml", *command->config_yaml}}}});
  }
  RoleSettings no_gpus;
  no_gpus.gpus_on_node = 0;
  Json container = worker_container(plan, no_gpus, *command, place, storage);
  container["name"] = "router";
  container.erase("resources");
  container.erase("startupProbe");
  out.push_back(
      {{"apiVersion", "apps/v1"},
       {"kind", "Deployment"},
       {"metadata", metadata(name, plan, labels)},
       {"spec",
        {{"replicas", 1},
         {"selector", {{"matchLabels", labels}}},
         {"template",
          {{"metadata", {{"labels", labels}}},
           {"spec",
            {{"containers", Json::array({container})}, {"volumes", volumes(storage)}}}}}}}});
  return out;
}

Result<void> add_workers(const Plan& plan, std::vector<Json>& documents) {
  for (const PlacedWorker& worker : plan.placement.workers) {
    const Pod pod = pod_of(plan, worker);
    if (pod.role->nodes > 1) {
      SP_TRY(Json set, leader_worker_set(plan, pod));
      documents.push_back(std::move(set));
    } else {
      SP_TRY(Json one, deployment(plan, pod));
      documents.push_back(std::move(one));
    }
    Json ports = Json::array({service_port("http", pod.place.http_port)});
    if (pod.place.bootstrap_port > 0)
      ports.push_back(service_port("bootstrap", pod.place.bootstrap_port));
    const Json labels = labels_of(plan, pod);
    documents.push_back(service(plan, pod.name, labels, labels, ports, pod.role->nodes > 1));
  }
  return {};
}

}  // namespace

Result<Files> k8s_files(const Plan& plan) {
  const Settings& s = plan.settings;
  bool several = false;
  for (const RoleSettings& role : s.roles) several = several || role.nodes > 1;
  if (several && s.framework == "trtllm") {
    return Error{ErrorCode::no,
                 "--target k8s: a TensorRT-LLM worker over several nodes is started by MPI, which "
                 "plain pods do not bring; targets that do: dynamo, slurm"};
  }
  const std::string app = app_name(plan);
  std::vector<Json> documents;
  documents.push_back(
      cache_claim(plan, storage_of(plan, s.roles.front()).cache_claim, plan.placement.nodes > 1));
  SP_TRY(const Json configs, config_map(plan));
  if (!configs.empty()) documents.push_back(configs);
  SP_CHECK(add_workers(plan, documents));
  const Json front_port = Json::array({service_port("http", plan.options.port)});
  if (s.mode == Mode::disagg) {
    SP_TRY(const auto objects, router(plan));
    documents.insert(documents.end(), objects.begin(), objects.end());
    documents.push_back(
        service(plan, app, labels(plan, "router"), labels(plan, "router"), front_port, false));
  } else {
    const Json mixed = labels(plan, kRoleNames[static_cast<std::size_t>(Role::mixed)]);
    documents.push_back(service(plan, app, mixed, mixed, front_port, several));
  }
  return Files{{"k8s.yaml", yaml_documents(documents), false}};
}

}  // namespace setpoint::generate
