// SPDX-License-Identifier: Apache-2.0
#include "generate/kube.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/sha256.h"
#include "generate/containers.h"

namespace setpoint::generate {
namespace {

using base::Json;

// Worker processes and collectives exchange data here; the engines' own examples give 16 to 20 GiB
// to four GPUs.
constexpr std::int64_t kShmGibPerGpu = 4, kLeastShmGib = 8;
// Weights as downloaded, over what they take on the GPUs of one worker.
constexpr double kCacheSlack = 1.1;
constexpr std::size_t kHashDigits = 6;

std::string escaped(const Word& word) {
  if (word.expands) return word.text;
  std::string out;
  for (std::size_t i = 0; i < word.text.size(); ++i) {
    if (word.text.compare(i, 2, "$(") == 0) out += '$';
    out += word.text[i];
  }
  return out;
}

Json probe(std::int64_t period_s, std::int64_t timeout_s, std::int64_t failures) {
  return {{"httpGet", {{"path", "/health"}, {"port", "http"}}},
          {"periodSeconds", period_s},
          {"timeoutSeconds", timeout_s},
          {"failureThreshold", failures}};
}

Json port(std::string_view name, std::int64_t number) {
  return {{"name", name}, {"containerPort", number}};
}

}  // namespace

std::string dns_name(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 && byte < 0x80) {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0) out.insert(0, "m-");
  while (!out.empty() && out.back() == '-') out.pop_back();
  if (out.size() > most) {
    out.resize(most - kHashDigits - 1);
    while (out.back() == '-') out.pop_back();
    out += '-' + base::sha256_hex(text).substr(0, kHashDigits);
  }
  return out;
}

std::string app_name(const Plan& plan) {
  const std::string& served = plan.settings.served_name;
  return dns_name(served.substr(served.rfind('/') + 1), 40);
}

Json pod_words(const std::vector<Word>& words, std::size_t from) {
  Json out = Json::array();
  for (std::size_t i = from; i < words.size(); ++i) out.push_back(escaped(words[i]));
  return out;
}

Word follower_rank(std::int64_t nodes, const Word& told) { return nodes == 2 ? Word{"1"} : told; }

Json pod_env(const Command& command) {
  Json out = Json::array();
  out.push_back(
      {{"name", "POD_IP"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}});
  out.push_back({{"name", "HF_HOME"}, {"value", kCacheFolder}});
  out.push_back(
      {{"name", "HF_TOKEN"},
       {"valueFrom",
        {{"secretKeyRef", {{"name", "hf-token"}, {"key", "HF_TOKEN"}, {"optional", true}}}}}});
  for (const Variable& v : command.environment) {
    out.push_back({{"name", v.name}, {"value", escaped(v.value)}});
  }
  return out;
}

std::int64_t model_gib(const Plan& plan) {
  double most = 0;
  for (const Worker& worker : plan.deployment->estimate.workers) {
    most = std::max(most, gib(worker.memory.weights) * worker.shard.gpus());
  }
  return static_cast<std::int64_t>(std::ceil(most * kCacheSlack));
}

PodStorage storage_of(const Plan& plan, const RoleSettings& role) {
  return {.cache_claim = app_name(plan) + "-model-cache",
          .config_map = {},
          .shm_gib = std::max(kLeastShmGib, kShmGibPerGpu * role.gpus_on_node)};
}

Json volumes(const PodStorage& storage) {
  Json out = Json::array();
  out.push_back({{"name", "shm"},
                 {"emptyDir",
                  {{"medium", "Memory"}, {"sizeLimit", std::to_string(storage.shm_gib) + "Gi"}}}});
  Json cache = {{"name", "model-cache"}};
  if (storage.cache_claim.empty()) {
    cache["emptyDir"] = Json::object();
  } else {
    cache["persistentVolumeClaim"] = {{"claimName", storage.cache_claim}};
  }
  out.push_back(cache);
  if (!storage.config_map.empty()) {
    out.push_back({{"name", "engine-config"}, {"configMap", {{"name", storage.config_map}}}});
  }
  return out;
}

Json volume_mounts(const PodStorage& storage) {
  Json out = Json::array();
  out.push_back({{"name", "shm"}, {"mountPath", "/dev/shm"}});
  out.push_back({{"name", "model-cache"}, {"mountPath", kCacheFolder}});
  if (!storage.config_map.empty()) {
    out.push_back({{"name", "engine-config"}, {"mountPath", kConfigFolder}, {"readOnly", true}});
  }
  return out;
}

Json probes() {
  return {{"startupProbe", probe(10, 5, 360)},
          {"readinessProbe", probe(10, 5, 3)},
          {"livenessProbe", probe(20, 10, 6)}};
}

Json worker_container(const Plan& plan, const RoleSettings& role, const Command& command,
                      const Place& place, const PodStorage& storage) {
  const Settings& s = plan.settings;
  Json ports = Json::array({port("http", place.http_port)});
  if (place.bootstrap_port > 0) ports.push_back(port("bootstrap", place.bootstrap_port));
  if (place.side_channel_port > 0) ports.push_back(port("kv-channel", place.side_channel_port));
  const Json gpus = {{"nvidia.com/gpu", std::to_string(role.gpus_on_node)}};
  Json out = {{"name", "engine"},
              {"image", plan.options.image.empty() ? engine_image(s.framework, s.engine_version)
                                                   : plan.options.image},
              {"command", pod_words({command.argv.front()}, 0)},
              {"args", pod_words(command.argv, 1)},
              {"env", pod_env(command)},
              {"ports", ports},
              {"resources", {{"limits", gpus}, {"requests", gpus}}},
              {"volumeMounts", volume_mounts(storage)}};
  if (place.first_node) out.update(probes());
  return out;
}

Json labels(const Plan& plan, std::string_view component) {
  return {{"app.kubernetes.io/name", app_name(plan)}, {"app.kubernetes.io/component", component}};
}

Json metadata(const std::string& name, const Plan& plan, const Json& labels) {
  return {{"name", name}, {"namespace", plan.options.namespace_name}, {"labels", labels}};
}

Json cache_claim(const Plan& plan, const std::string& name, bool many_nodes) {
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", metadata(name, plan, labels(plan, "model-cache"))},
          {"spec",
           {{"accessModes", Json::array({many_nodes ? "ReadWriteMany" : "ReadWriteOnce"})},
            {"resources", {{"requests", {{"storage", std::to_string(model_gib(plan)) + "Gi"}}}}}}}};
}

}  // namespace setpoint::generate
