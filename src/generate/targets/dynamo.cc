// SPDX-License-Identifier: Apache-2.0
// NVIDIA Dynamo on Kubernetes: one DynamoGraphDeployment with a frontend and a service for each
// kind of worker. Dynamo starts the engine inside its own worker program, brings the router and,
// for workers over several nodes, adds ranks and addresses itself: these flags are not written.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "generate/containers.h"
#include "generate/kube.h"
#include "generate/target.h"
#include "generate/yaml.h"

namespace setpoint::generate {
namespace {

using base::Json;

// How Dynamo's worker program of an engine is called instead of the engine's own server.
struct Program {
  std::string_view framework;
  std::size_t own_words;  // of the engine's command before its flags, the model included
  bool model_among_them;  // the last of these words is the model
  std::string_view module, model_flag, config_flag;  // "" = the engine's own flag stays
  std::string_view name_flag;                        // what clients ask for; likewise
  bool says_role;                                    // the engine's own flags name the role already
};
constexpr std::array kPrograms{
    Program{"vllm", 3, true, "dynamo.vllm", "--model", "", "", false},
    Program{"sglang", 3, false, "dynamo.sglang", "", "", "", true},
    Program{"trtllm", 2, true, "dynamo.trtllm", "--model-path", "--extra-engine-args",
            "--served-model-name", false},
};
// Dynamo's frontend listens; its workers do not.
constexpr std::array<std::string_view, 2> kListening{"--host", "--port"};
constexpr std::string_view kEnginesName = "--served_model_name";  // of TensorRT-LLM's own server

const Program& program_of(const std::string& framework) {
  return *std::find_if(kPrograms.begin(), kPrograms.end(),
                       [&](const Program& p) { return p.framework == framework; });
}

std::vector<Word> role_words(const Program& program, const DynamoRelease& release, Role role) {
  if (role == Role::mixed || program.says_role) return {};
  const std::string name(kRoleNames[static_cast<std::size_t>(role)]);
  if (release.mode_flag || program.framework == "trtllm")
    return {{"--disaggregation-mode"}, {name}};
  return {{"--is-" + name + "-worker"}};
}

// The engine's command in the words of Dynamo's worker program.
Command dynamo_command(const Command& engine, const Settings& settings,
                       const DynamoRelease& release, Role role) {
  const Program& program = program_of(settings.framework);
  Command out = engine;
  out.argv = {{"python3"}, {"-m"}, {std::string(program.module)}};
  if (program.model_among_them) {
    out.argv.push_back({std::string(program.model_flag)});
    out.argv.push_back(engine.argv[program.own_words - 1]);
  }
  if (!program.name_flag.empty()) {
    out.argv.push_back({std::string(program.name_flag)});
    out.argv.push_back({settings.served_name});
  }
  for (std::size_t i = program.own_words; i < engine.argv.size(); ++i) {
    const Word& word = engine.argv[i];
    const bool named = !program.name_flag.empty() && word.text == kEnginesName;
    if (named || std::find(kListening.begin(), kListening.end(), word.text) != kListening.end()) {
      ++i;
    } else if (!program.config_flag.empty() && word.text == "--config") {
      out.argv.push_back({std::string(program.config_flag)});
    } else {
      out.argv.push_back(word);
    }
  }
  const auto words = role_words(program, release, role);
  out.argv.insert(out.argv.end(), words.begin(), words.end());
  return out;
}

struct Context {
  const Plan& plan;
  const DynamoRelease& release;
  const FlagTable& flags;  // of the engine inside the release
  std::string image;
};

Result<Command> worker(const Context& c, const RoleSettings& role) {
  RoleSettings alone = role;  // the operator adds what several nodes need
  alone.nodes = 1;
  Place place;
  place.http_port = 0;
  place.own_address = {"$(POD_IP)", true};
  if (c.plan.settings.mode == Mode::disagg) {
    place.bootstrap_port = 8998;
    place.side_channel_port = 20097;
  }
  place.config_path =
      fmt::format("{}/{}.yaml", kConfigFolder, kRoleNames[static_cast<std::size_t>(role.role)]);
  Settings told = c.plan.settings;
  // The engine need not have a name of its own where Dynamo has one for it.
  if (!program_of(told.framework).name_flag.empty()) told.served_name = told.model;
  SP_TRY(const Command engine, worker_command(told, alone, c.flags, place));
  return dynamo_command(engine, c.plan.settings, c.release, role.role);
}

Json service(const Context& c, const RoleSettings& role, const Command& command) {
  const PodStorage storage = storage_of(c.plan, role);
  Json container = {{"image", c.image},
                    {"command", pod_words({command.argv.begin(), command.argv.begin() + 3}, 0)},
                    {"args", pod_words(command.argv, 3)},
                    {"env", pod_env(command)}};
  Json pod = {{"mainContainer", container}};
  if (command.config_yaml) {
    const std::string name = app_name(c.plan) + "-engine";
    pod["volumes"] = Json::array({{{"name", "engine-config"}, {"configMap", {{"name", name}}}}});
    pod["mainContainer"]["volumeMounts"] = Json::array(
        {{{"name", "engine-config"}, {"mountPath", kConfigFolder}, {"readOnly", true}}});
  }
  Json out = {{"componentType", "worker"}};
  if (role.role != Role::mixed) {
    out["subComponentType"] = kRoleNames[static_cast<std::size_t>(role.role)];
  }
  out["replicas"] = role.workers;
  if (role.nodes > 1) out["multinode"] = {{"nodeCount", role.nodes}};
  out["resources"] = {{"limits", {{"gpu", std::to_string(role.gpus_on_node)}}}};
  out["sharedMemory"] = {{"size", std::to_string(storage.shm_gib) + "Gi"}};
  out["volumeMounts"] =
      Json::array({{{"name", storage.cache_claim}, {"mountPoint", kCacheFolder}}});
  out["extraPodSpec"] = pod;
  return out;
}

Json frontend(const Context& c) {
  return {{"componentType", "frontend"},
          {"replicas", 1},
          {"extraPodSpec",
           {{"mainContainer",
             {{"image", c.image},
              {"command", Json::array({"python3", "-m", "dynamo.frontend"})},
              {"args", Json::array({"--http-port", std::to_string(c.plan.options.port)})}}}}}};
}

}  // namespace

Result<Files> dynamo_files(const Plan& plan) {
  const Settings& s = plan.settings;
  SP_TRY(const DynamoRelease release, dynamo_release(s.framework, s.engine_version));
  SP_TRY(const FlagTable flags, FlagTable::open(s.framework, release.engine_version));
  const Context c{plan, release, flags,
                  plan.options.image.empty() ? release.image : plan.options.image};
  Json services = Json::object(), configs = Json::object();
  services["Frontend"] = frontend(c);
  for (const RoleSettings& role : s.roles) {
    SP_TRY(const Command command, worker(c, role));
    const std::string name(kRoleNames[static_cast<std::size_t>(role.role)]);
    if (command.config_yaml) configs[name + ".yaml"] = *command.config_yaml;
    services[role.role == Role::mixed ? "worker" : name] = service(c, role, command);
  }
  const std::string claim = storage_of(plan, s.roles.front()).cache_claim;
  std::vector<Json> documents{cache_claim(plan, claim, plan.placement.nodes > 1)};
  if (!configs.empty()) {
    documents.push_back(
        {{"apiVersion", "v1"},
         {"kind", "ConfigMap"},
         {"metadata", metadata(app_name(plan) + "-engine", plan, labels(plan, "engine"))},
         {"data", configs}});
  }
  documents.push_back({{"apiVersion", "nvidia.com/v1alpha1"},
                       {"kind", "DynamoGraphDeployment"},
                       {"metadata", metadata(app_name(plan), plan, labels(plan, "graph"))},
                       {"spec",
                        {{"backendFramework", s.framework},
                         {"pvcs", Json::array({{{"name", claim}}})},
                         {"services", services}}}});
  std::string text;
  if (!release.note.empty()) text = "# " + release.note + "\n";
  return Files{{"k8s_deploy.yaml", text + yaml_documents(documents), false}};
}

}  // namespace setpoint::generate
