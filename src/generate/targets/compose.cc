// SPDX-License-Identifier: Apache-2.0
// Target `compose`: one service a worker on one machine, and one in front of several. Aggregated
// workers share the project's own network; disaggregated ones use the machine's, because they hand
// KV memory to each other directly. Keys: the Compose specification (compose-spec.io).
#include <fmt/format.h>

#include "generate/containers.h"
#include "generate/targets/local.h"
#include "generate/yaml.h"

namespace setpoint::generate {
namespace {

using base::Json;

constexpr std::string_view kConfigFolder = "/engine";      // options files in the containers
constexpr std::string_view kCacheFolder = "/model-cache";  // HF_HOME
constexpr std::string_view kNginxImage = "nginx:1.28-alpine";

// Compose replaces $NAME in values itself; nothing here asks for that.
std::string literal(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '$' ? "$$" : std::string(1, c);
  return out;
}

Json words(const std::vector<Word>& argv, std::size_t from) {
  Json out = Json::array();
  for (std::size_t i = from; i < argv.size(); ++i) out.push_back(literal(argv[i].text));
  return out;
}

Json mount(const std::string& source, const std::string& target) {
  return {{"type", "bind"},
          {"source", literal(source)},
          {"target", literal(target)},
          {"read_only", true}};
}

// Weights may take an hour to load: failures in that time do not count.
Json healthcheck(Json test) {
  return {{"test", std::move(test)},
          {"interval", "10s"},
          {"timeout", "10s"},
          {"retries", 3},
          {"start_period", "1h"}};
}

// Every engine image has python3; not all have curl.
Json engine_health(std::int64_t port) {
  const auto code = fmt::format(
      "import urllib.request; urllib.request.urlopen('http://127.0.0.1:{}/health', timeout=5)",
      port);
  return healthcheck({"CMD", "python3", "-c", code});
}

class Document {
 public:
  Document(const Plan& plan, const Processes& all)
      : plan_(plan), all_(all), host_network_(plan.settings.mode == Mode::disagg) {}

  std::string text() const {
    Json services;
    for (const Process& process : all_.workers) services[process.name] = worker(process);
    if (all_.router) services["router"] = router(*all_.router);
    if (all_.balancer) services["balancer"] = balancer();
    return yaml(
        {{"services", std::move(services)}, {"volumes", {{"model-cache", Json::object()}}}});
  }

 private:
  Json engine(const Process& process) const {
    const Options& o = plan_.options;
    const Settings& s = plan_.settings;
    Json out = {{"image", o.image.empty() ? engine_image(s.framework, s.engine_version) : o.image},
                {"entrypoint", Json::array({literal(process.command.argv[0].text)})},
                {"command", words(process.command.argv, 1)}};
    Json environment = Json::array({fmt::format("HF_HOME={}", kCacheFolder), "HF_TOKEN"});
    for (const Variable& v : process.command.environment) {
      environment.push_back(v.name + "=" + literal(v.value.text));
    }
    out["environment"] = std::move(environment);
    // A name is a volume of the project, a path a folder of this machine.
    Json volumes = Json::array({fmt::format("${{MODEL_CACHE:-model-cache}}:{}", kCacheFolder)});
    if (s.model.starts_with('/')) volumes.push_back(mount(s.model, s.model));
    if (process.command.config_yaml) {
      const std::string file = process.config_path.substr(process.config_path.rfind('/') + 1);
      volumes.push_back(mount("./" + file, process.config_path));
    }
    out["volumes"] = std::move(volumes);
    out["healthcheck"] = engine_health(process.port);
    return out;
  }

  Json worker(const Process& process) const {
    Json out = engine(process);
    Json ids = Json::array();
    for (const std::int64_t device : process.devices) ids.push_back(std::to_string(device));
    const Json devices = {{"driver", "nvidia"},
                          {"device_ids", std::move(ids)},
                          {"capabilities", Json::array({"gpu"})}};
    out["deploy"]["resources"]["reservations"]["devices"] = Json::array({devices});
    out["ipc"] = "host";
    out["ulimits"] = {{"memlock", -1}, {"stack", 67108864}};  // pinned memory; deep call stacks
    reach(out, process.port == all_.port);
    return out;
  }

  Json router(const Process& process) const {
    Json out = engine(process);
    in_front(out);
    return out;
  }

  Json balancer() const {
    Json out = {
        {"image", kNginxImage},
        {"entrypoint", Json::array({"nginx"})},
        {"volumes", Json::array({mount("./nginx.conf", "/etc/nginx/nginx.conf")})},
        {"healthcheck", healthcheck({"CMD", "wget", "-q", "-O", "/dev/null",
                                     fmt::format("http://127.0.0.1:{}/health", all_.port)})}};
    in_front(out);
    return out;
  }

  void in_front(Json& service) const {
    for (const Process& process : all_.workers) {
      service["depends_on"][process.name]["condition"] = "service_healthy";
    }
    reach(service, true);
  }

  // By others of the machine's network, and, if `published`, from outside.
  void reach(Json& service, bool published) const {
    if (host_network_) {
      service["network_mode"] = "host";
    } else if (published) {
      service["ports"] = Json::array({fmt::format("{0}:{0}", all_.port)});
    }
    service["restart"] = "unless-stopped";
  }

  const Plan& plan_;
  const Processes& all_;
  bool host_network_;
};

}  // namespace

Files compose_document(const Plan& plan, const Processes& all) {
  const std::string head = heading(
      plan, all,
      {"Start: docker compose up --wait. Stop: docker compose down. Logs: docker compose logs "
       "NAME.",
       fmt::format("Clients connect to port {}.", all.port),
       "HF_TOKEN is passed on when it is set. MODEL_CACHE names a folder with the hub's cache; "
       "without it the models lie in a volume of the project."});
  Files out{{"compose.yaml", head + Document(plan, all).text(), false}};
  for (File& file : config_files(all)) out.push_back(std::move(file));
  if (all.balancer) out.push_back({"nginx.conf", *all.balancer, false});
  return out;
}

Result<Files> compose_files(const Plan& plan) {
  if (plan.placement.nodes > 1) {
    return Error{ErrorCode::no,
                 fmt::format("compose: the workers need {} machines and a compose file describes "
                             "one; targets that work: run, slurm, k8s, dynamo",
                             plan.placement.nodes)};
  }
  const bool host = plan.settings.mode == Mode::disagg;
  const Naming naming{
      .address = [host](const PlacedWorker& worker,
                        const NodePart&) { return Word{host ? "127.0.0.1" : worker.name}; },
      .rank = {},
      .slurm = false,
      .config_folder = std::string(kConfigFolder) + "/",
      .router_config = std::string(kConfigFolder) + "/router.yaml",
      .balancer_paths = {}};
  SP_TRY(const Processes all, processes(plan, naming));
  return compose_document(plan, all);
}

}  // namespace setpoint::generate
