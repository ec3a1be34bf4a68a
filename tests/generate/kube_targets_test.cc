// SPDX-License-Identifier: Apache-2.0
// The Kubernetes targets, re-read by another parser (yaml-cpp). Only fields of the published
// schemas are written; GPUs add up to the plan's; options files and routers are where commands
// look.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <map>
#include <set>

#include "base/json.h"
#include "generate/target.h"

namespace setpoint::generate {
namespace {

struct Shape {
  std::string framework, version;
  Mode mode = Mode::agg;
  std::int64_t gpus = 8, workers = 1;  // of each role
  int dp = 1;
};

RoleSettings role_of(Role role, const Shape& shape) {
  RoleSettings out;
  out.role = role;
  out.workers = shape.workers;
  out.system = "h200_sxm";
  const int tp = static_cast<int>(shape.gpus) / shape.dp;
  out.shard = {tp, 1, shape.dp, 1, static_cast<int>(shape.gpus), 1};
  out.gpus = shape.gpus;
  out.nodes = (shape.gpus + 7) / 8;
  out.gpus_on_node = shape.gpus / out.nodes;
  out.max_requests = 64;
  out.max_tokens = role == Role::prefill ? 8192 : 128;
  out.max_len = 6500;
  out.kv_fraction = 0.83;
  if (role != Role::prefill) out.graph_sizes = {1, 2, 4, 8, 16, 32, 64};
  return out;
}

class Made {
 public:
  explicit Made(const Shape& shape) : plan_(make(shape)) {
    const std::vector<Role> roles = shape.mode == Mode::disagg
                                        ? std::vector{Role::prefill, Role::decode}
                                        : std::vector{Role::mixed};
    plan_.deployment = &deployment_;
    std::int64_t node = 0;
    for (std::size_t r = 0; r < roles.size(); ++r) {
      plan_.settings.roles.push_back(role_of(roles[r], shape));
      Worker worker;
      worker.shard = plan_.settings.roles[r].shard;
      worker.memory.weights = Bytes(std::int64_t{30} << 30);
      deployment_.estimate.workers.push_back(worker);
      for (std::int64_t w = 0; w < shape.workers; ++w) {
        PlacedWorker placed;
        placed.role = r;
        placed.index = w;
        placed.name =
            std::string(kRoleNames[static_cast<std::size_t>(roles[r])]) + "-" + std::to_string(w);
        for (std::int64_t n = 0; n < plan_.settings.roles[r].nodes; ++n)
          placed.parts.push_back({node++, {}});
        plan_.placement.workers.push_back(placed);
      }
    }
    plan_.placement.nodes = node;
  }
  const Plan& plan() const { return plan_; }
  void serve_as(const std::string& name) { plan_.settings.served_name = name; }

 private:
  static Plan make(const Shape& shape) {
    auto flags = FlagTable::open(shape.framework, shape.version);
    EXPECT_TRUE(flags) << flags.error().text;
    Plan plan{nullptr, {}, {}, *flags, {}};
    plan.settings.framework = shape.framework;
    plan.settings.engine_version = shape.version;
    plan.settings.mode = shape.mode;
    plan.settings.model = "Qwen/Qwen3-235B-A22B-FP8";
    plan.settings.served_name = "Qwen/Qwen3-235B-A22B-FP8";
    plan.settings.moe = true;
    return plan;
  }
  Deployment deployment_;
  Plan plan_;
};

std::vector<YAML::Node> documents(const Result<Files>& files, const std::string& path) {
  if (!files) {
    ADD_FAILURE() << files.error().text;
    return {};
  }
  for (const File& file : *files) {
    if (file.path == path) return YAML::LoadAll(file.text);
  }
  ADD_FAILURE() << "no file " << path;
  return {};
}

YAML::Node of_kind(const std::vector<YAML::Node>& all, const std::string& kind,
                   const std::string& name = "") {
  for (const YAML::Node& node : all) {
    if (node["kind"].as<std::string>() != kind) continue;
    if (name.empty() || node["metadata"]["name"].as<std::string>() == name) return node;
  }
  ADD_FAILURE() << "no " << kind << ' ' << name;
  return {};
}

bool says(const YAML::Node& words, const std::string& word) {
  for (const YAML::Node& w : words) {
    if (w.as<std::string>() == word) return true;
  }
  return false;
}

std::string after(const YAML::Node& words, const std::string& flag) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i].as<std::string>() == flag) return words[i + 1].as<std::string>();
  }
  return {};
}

// Paths like "Deployment.spec.replicas", lists as [], maps with free keys as *.
void collect(const YAML::Node& node, const std::string& path, std::set<std::string>& out) {
  static const std::set<std::string> free{"labels",   "matchLabels", "limits",
                                          "requests", "data",        "services"};
  const std::string last = path.substr(path.rfind('.') + 1);
  const bool any_key = free.contains(last) || path == "Service.spec.selector";
  if (node.IsMap()) {
    for (const auto& member : node) {
      collect(member.second, path + '.' + (any_key ? "*" : member.first.as<std::string>()), out);
    }
  } else if (node.IsSequence()) {
    for (const YAML::Node& item : node) collect(item, path + "[]", out);
  } else {
    out.insert(path);
  }
}

std::set<std::string> known_fields() {
  std::ifstream in(SETPOINT_SOURCE_DIR "/tests/golden/kubernetes_fields.txt");
  std::set<std::string> out;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') out.insert(line);
  }
  return out;
}

TEST(KubeTargets, OnlyFieldsOfThePublishedSchemasAreWritten) {
  const std::set<std::string> known = known_fields();
  ASSERT_GT(known.size(), 40u);
  int looked_at = 0;
  for (const Shape& shape : {Shape{"vllm", "0.24.0"}, Shape{"sglang", "0.5.16", Mode::disagg, 4, 2},
                             Shape{"vllm", "0.24.0", Mode::agg, 16, 1, 2},
                             Shape{"trtllm", "1.3.0rc23", Mode::disagg, 4}}) {
    const Made made(shape);
    const auto k8s = k8s_files(made.plan());
    std::vector<YAML::Node> all = documents(k8s, "k8s.yaml");
    for (const YAML::Node& d : documents(dynamo_files(made.plan()), "k8s_deploy.yaml"))
      all.push_back(d);
    for (const YAML::Node& document : all) {
      std::set<std::string> fields;
      collect(document, document["kind"].as<std::string>(), fields);
      for (const std::string& field : fields) {
        ++looked_at;
        EXPECT_TRUE(known.contains(field)) << field;
      }
    }
  }
  EXPECT_GT(looked_at, 300);
}

TEST(K8s, EachWorkerOfOneNodeIsADeploymentBehindAService) {
  const Made made({"vllm", "0.24.0", Mode::agg, 4, 2});
  const auto all = documents(k8s_files(made.plan()), "k8s.yaml");
  const YAML::Node worker = of_kind(all, "Deployment", "qwen3-235b-a22b-fp8-mixed-1");
  const YAML::Node container = worker["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(container["resources"]["limits"]["nvidia.com/gpu"].as<std::string>(), "4");
  EXPECT_EQ(container["image"].as<std::string>(), "vllm/vllm-openai:v0.24.0");
  EXPECT_EQ(container["command"][0].as<std::string>(), "vllm");
  EXPECT_EQ(after(container["args"], "--max-num-seqs"), "64");
  const YAML::Node front = of_kind(all, "Service", "qwen3-235b-a22b-fp8");
  const YAML::Node labels = worker["spec"]["template"]["metadata"]["labels"];
  for (const auto& wanted : front["spec"]["selector"]) {
    EXPECT_EQ(labels[wanted.first.as<std::string>()].as<std::string>(),
              wanted.second.as<std::string>());
  }
}

TEST(K8s, AWorkerOverTwoNodesIsALeaderWorkerSetWithRanks) {
  const Made made({"vllm", "0.24.0", Mode::agg, 16, 1, 2});
  const auto all = documents(k8s_files(made.plan()), "k8s.yaml");
  const YAML::Node group = of_kind(all, "LeaderWorkerSet")["spec"]["leaderWorkerTemplate"];
  EXPECT_EQ(group["size"].as<int>(), 2);
  const YAML::Node leader = group["leaderTemplate"]["spec"]["containers"][0];
  const YAML::Node other = group["workerTemplate"]["spec"]["containers"][0];
  for (const YAML::Node& pod : {leader, other}) {
    EXPECT_EQ(pod["resources"]["limits"]["nvidia.com/gpu"].as<std::string>(), "8");
    EXPECT_EQ(after(pod["args"], "--nnodes"), "2");
    EXPECT_EQ(after(pod["args"], "--master-addr"), "$(LWS_LEADER_ADDRESS)");
  }
  EXPECT_EQ(after(leader["args"], "--node-rank"), "0");
  EXPECT_EQ(after(other["args"], "--node-rank"), "1");
  EXPECT_FALSE(says(leader["args"], "--headless"));
  EXPECT_TRUE(says(other["args"], "--headless"));
  EXPECT_FALSE(other["readinessProbe"].IsDefined());  // no server there
  const YAML::Node front = of_kind(all, "Service", "qwen3-235b-a22b-fp8");
  EXPECT_EQ(front["spec"]["selector"]["leaderworkerset.sigs.k8s.io/worker-index"].as<std::string>(),
            "0");
}

TEST(K8s, NodesBeyondTheSecondAreToldTheirRank) {
  const auto all =
      documents(k8s_files(Made({"vllm", "0.24.0", Mode::agg, 24, 1, 3}).plan()), "k8s.yaml");
  const YAML::Node group = of_kind(all, "LeaderWorkerSet")["spec"]["leaderWorkerTemplate"];
  const YAML::Node args = group["workerTemplate"]["spec"]["containers"][0]["args"];
  EXPECT_EQ(after(args, "--node-rank"), "$(LWS_WORKER_INDEX)");
}

TEST(K8s, TwoPoolsHaveTheEnginesRouterInFront) {
  const Made made({"sglang", "0.5.16", Mode::disagg, 4, 2});
  const auto all = documents(k8s_files(made.plan()), "k8s.yaml");
  const YAML::Node router = of_kind(all, "Deployment", "qwen3-235b-a22b-fp8-router");
  const YAML::Node args = router["spec"]["template"]["spec"]["containers"][0]["args"];
  const std::string text = YAML::Dump(args);
  for (const char* name : {"prefill-0", "prefill-1", "decode-0", "decode-1"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << " in " << text;
  }
  const auto vllm = k8s_files(Made({"vllm", "0.24.0", Mode::disagg, 4}).plan());
  ASSERT_FALSE(vllm);
  EXPECT_EQ(vllm.error().code, ErrorCode::no);
  EXPECT_NE(vllm.error().text.find("dynamo, llm-d"), std::string::npos);
}

TEST(K8s, OptionsFilesOfTheEngineAreMountedWhereItsCommandLooks) {
  const Made made({"trtllm", "1.3.0rc23", Mode::agg, 8});
  const auto all = documents(k8s_files(made.plan()), "k8s.yaml");
  const YAML::Node map = of_kind(all, "ConfigMap");
  const YAML::Node options = YAML::Load(map["data"]["mixed.yaml"].as<std::string>());
  EXPECT_EQ(options["max_batch_size"].as<int>(), 64);
  const YAML::Node pod = of_kind(all, "Deployment")["spec"]["template"]["spec"];
  EXPECT_EQ(after(pod["containers"][0]["args"], "--config"), "/engine-config/mixed.yaml");
  std::string mounted;
  for (const YAML::Node& volume : pod["volumes"]) {
    if (volume["configMap"].IsDefined()) mounted = volume["configMap"]["name"].as<std::string>();
  }
  EXPECT_EQ(mounted, map["metadata"]["name"].as<std::string>());
}

TEST(Dynamo, WorkersHaveTheSearchsGpusAndDynamosOwnWords) {
  // The peer writes 64 GPUs over eight nodes for this eight-GPU worker.
  const Made made({"sglang", "0.5.16", Mode::disagg, 8, 1, 8});
  const auto all = documents(dynamo_files(made.plan()), "k8s_deploy.yaml");
  const YAML::Node services = of_kind(all, "DynamoGraphDeployment")["spec"]["services"];
  for (const char* role : {"prefill", "decode"}) {
    const YAML::Node service = services[role];
    EXPECT_EQ(service["resources"]["limits"]["gpu"].as<std::string>(), "8");
    EXPECT_FALSE(service["multinode"].IsDefined());
    EXPECT_EQ(service["subComponentType"].as<std::string>(), role);
    const YAML::Node main = service["extraPodSpec"]["mainContainer"];
    EXPECT_EQ(main["command"][2].as<std::string>(), "dynamo.sglang");
    EXPECT_EQ(after(main["args"], "--disaggregation-mode"), role);
    EXPECT_EQ(after(main["args"], "--tp-size"), "8");
    EXPECT_FALSE(says(main["args"], "--port"));
  }
}

TEST(Dynamo, TheEngineInsideTheReleaseDecidesFlagsAndRoleWords) {
  const auto now =
      documents(dynamo_files(Made({"vllm", "0.24.0", Mode::disagg, 4}).plan()), "k8s_deploy.yaml");
  const YAML::Node decode = of_kind(now, "DynamoGraphDeployment")["spec"]["services"]["decode"];
  const YAML::Node args = decode["extraPodSpec"]["mainContainer"]["args"];
  EXPECT_EQ(after(args, "--model"), "Qwen/Qwen3-235B-A22B-FP8");
  EXPECT_EQ(after(args, "--disaggregation-mode"), "decode");
  EXPECT_TRUE(says(args, "--kv-transfer-config"));
  const auto files = dynamo_files(Made({"vllm", "0.22.0", Mode::disagg, 4}).plan());
  ASSERT_TRUE(files) << files.error().text;
  EXPECT_TRUE(files->front().text.starts_with("# Dynamo 1.2.0 carries vllm 0.20.1, not 0.22.0"));
  const auto old =
      documents(dynamo_files(Made({"vllm", "0.16.0", Mode::disagg, 4}).plan()), "k8s_deploy.yaml");
  const YAML::Node prefill = of_kind(old, "DynamoGraphDeployment")["spec"]["services"]["prefill"];
  EXPECT_TRUE(says(prefill["extraPodSpec"]["mainContainer"]["args"], "--is-prefill-worker"));
}

TEST(Dynamo, TheNameThatClientsAskForIsSaidInDynamosOwnWords) {
  for (const char* version : {"1.3.0rc23", "1.4.0.dev0"}) {
    Made made({"trtllm", version, Mode::disagg, 4});
    made.serve_as("prod-a");
    const auto all = documents(dynamo_files(made.plan()), "k8s_deploy.yaml");
    const YAML::Node services = of_kind(all, "DynamoGraphDeployment")["spec"]["services"];
    for (const char* role : {"prefill", "decode"}) {
      const YAML::Node args = services[role]["extraPodSpec"]["mainContainer"]["args"];
      EXPECT_EQ(after(args, "--served-model-name"), "prod-a") << version;
      EXPECT_FALSE(says(args, "--served_model_name")) << version;
    }
  }
}

TEST(Dynamo, SeveralNodesAreCountedNotMultiplied) {
  const Made made({"vllm", "0.24.0", Mode::agg, 16, 1, 2});
  const auto all = documents(dynamo_files(made.plan()), "k8s_deploy.yaml");
  const YAML::Node worker = of_kind(all, "DynamoGraphDeployment")["spec"]["services"]["worker"];
  EXPECT_EQ(worker["multinode"]["nodeCount"].as<int>(), 2);
  EXPECT_EQ(worker["resources"]["limits"]["gpu"].as<std::string>(), "8");
  EXPECT_FALSE(
      says(worker["extraPodSpec"]["mainContainer"]["args"], "--nnodes"));  // the operator's
}

TEST(LlmD, ValuesGiveBothRolesTheirConnectorAndDecodeItsSidecar) {
  const Made made({"vllm", "0.24.0", Mode::disagg, 4, 2});
  const auto values = documents(llm_d_files(made.plan()), "values.yaml").at(0);
  EXPECT_TRUE(values["routing"]["proxy"]["enabled"].as<bool>());
  EXPECT_EQ(values["routing"]["proxy"]["connector"].as<std::string>(), "nixlv2");
  const std::map<std::string, std::string> ports{{"prefill", "8000"}, {"decode", "8200"}};
  for (const auto& [role, port] : ports) {
    EXPECT_EQ(values[role]["replicas"].as<int>(), 2);
    const YAML::Node container = values[role]["containers"][0];
    EXPECT_EQ(container["modelCommand"].as<std::string>(), "custom");
    EXPECT_EQ(after(container["args"], "--port"), port);
    EXPECT_TRUE(says(container["args"], "--kv-transfer-config"));
    EXPECT_EQ(container["resources"]["limits"]["nvidia.com/gpu"].as<std::string>(), "4");
  }
}

TEST(LlmD, AnOverlayPatchesTheGuidesDeployments) {
  const Made made({"sglang", "0.5.16", Mode::disagg, 2});
  const auto files = llm_d_files(made.plan());
  const YAML::Node patch = documents(files, "overlay/patch-decode.yaml").at(0);
  EXPECT_EQ(patch["metadata"]["name"].as<std::string>(), "decode");
  EXPECT_EQ(patch["spec"]["template"]["spec"]["containers"][0]["name"].as<std::string>(),
            "modelserver");
  const YAML::Node overlay = documents(files, "overlay/kustomization.yaml").at(0);
  EXPECT_EQ(overlay["patches"].size(), 2u);
  EXPECT_EQ(overlay["images"][0]["newTag"].as<std::string>(), "v0.5.16");
}

TEST(LlmD, AWorkerOverTwoNodesFindsItsRankItself) {
  const auto values =
      documents(llm_d_files(Made({"vllm", "0.24.0", Mode::agg, 16, 1, 2}).plan()), "values.yaml")
          .at(0);
  EXPECT_TRUE(values["multinode"].as<bool>());
  EXPECT_EQ(values["decode"]["parallelism"]["workers"].as<int>(), 2);
  const YAML::Node container = values["decode"]["containers"][0];
  EXPECT_EQ(container["command"][0].as<std::string>(), "bash");
  const std::string script = container["args"][1].as<std::string>();
  EXPECT_NE(script.find("--headless"), std::string::npos);
  EXPECT_NE(script.find("\"${LWS_LEADER_ADDRESS}\""), std::string::npos) << script;
}

TEST(KubeTargets, TheSamePlanGivesTheSameBytesAndNoNone) {
  for (const Shape& shape :
       {Shape{"vllm", "0.24.0"}, Shape{"sglang", "0.5.16", Mode::disagg, 4, 2}}) {
    const Made made(shape);
    for (const auto& make : {k8s_files, dynamo_files, llm_d_files}) {
      const auto files = make(made.plan());
      ASSERT_TRUE(files) << files.error().text;
      EXPECT_EQ(*files, *make(made.plan()));
      for (const File& file : *files) {
        EXPECT_EQ(file.text.find("None"), std::string::npos);
        EXPECT_EQ(file.text.find("null"), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace setpoint::generate
