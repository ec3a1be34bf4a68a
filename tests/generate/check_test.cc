// SPDX-License-Identifier: Apache-2.0
// The check of rendered files: thousands of random plans for every target pass it, and every kind
// of wrong file does not.
#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "deployments.h"
#include "generate/readback.h"
#include "generate/target.h"

namespace {

using namespace setpoint;
using namespace setpoint::generate;
using namespace setpoint::generate_test;

struct Engine {
  const char* framework;
  std::vector<const char*> versions;
};
const std::vector<Engine> kEngines{
    {"vllm", {"0.14.0", "0.19.0", "0.22.0", "0.24.0", "0.33.0"}},
    {"sglang", {"0.5.6.post2", "0.5.9", "0.5.10", "0.5.12", "0.5.14", "0.5.16", "0.5.23"}},
    {"trtllm", {"1.0.0", "1.2.0rc5", "1.3.0rc20"}},
};

// Deployments as a search could find them, without pricing any.
class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  Deployment deployment() {
    const Engine& engine = kEngines[std::size_t(pick(0, 2))];
    Deployment d;
    moe_ = pick(0, 1) == 1;
    Workload& w = d.request.subject.workload;
    w.isl = pick(1, 6000);
    w.osl = pick(2, 2000);
    if (moe_) w.nextn = static_cast<int>(pick(0, 3));
    d.request.subject.system = "h200_sxm";
    d.inputs.model = moe_ ? "deepseek-ai/DeepSeek-V3" : "Qwen/Qwen3-32B";
    d.inputs.moe = moe_;
    Estimate& e = d.estimate;
    e.framework = engine.framework;
    e.framework_version =
        engine.versions[std::size_t(pick(0, std::int64_t(engine.versions.size()) - 1))];
    e.mode = pick(0, 1) == 0 ? Mode::agg : Mode::disagg;
    e.replicas = pick(1, 3);
    e.performance.concurrency = 100;
    if (e.mode == Mode::agg) {
      e.workers = {worker(Role::mixed, w, e.framework)};
    } else {
      e.workers = {worker(Role::prefill, w, e.framework), worker(Role::decode, w, e.framework)};
    }
    for (const Worker& one : e.workers) e.gpus_per_replica += one.count * one.shard.gpus();
    e.gpus_asked = e.gpus_used();
    return d;
  }

  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

 private:
  Worker worker(Role role, const Workload& w, const std::string& framework) {
    Worker out;
    out.role = role;
    out.count = pick(1, 4);
    out.system = role == Role::decode && pick(0, 3) == 0 ? "gb200" : "h200_sxm";
    const int width = 1 << pick(0, 4);
    int tp = 1 << pick(0, 4);
    while (width % tp != 0) tp /= 2;
    if (!moe_ || (framework == "trtllm" && tp > 1)) tp = width;
    out.shard.tp = tp;
    out.shard.dp = width / tp;
    if (moe_) {
      out.shard.moe_ep = pick(0, 3) == 0 ? 1 : width;
      out.shard.moe_tp = width / out.shard.moe_ep;
    }
    if (pick(0, 4) == 0) out.shard.pp = 2;
    out.batch = role == Role::prefill ? pick(1, 4) : pick(1, 700);
    const std::int64_t decoding = out.batch * (w.nextn + 1);
    out.max_num_tokens = role == Role::prefill  ? out.batch * w.new_tokens()
                         : role == Role::decode ? decoding
                                                : decoding + pick(1, 2 * w.isl);
    const auto gib = [](double value) {
      return Bytes(static_cast<std::int64_t>(value * kBytesPerGib));
    };
    out.memory = {gib(30), gib(2), gib(double(pick(1, 60))), gib(1), gib(4), gib(141)};
    return out;
  }

  std::mt19937 random_;
  bool moe_ = false;
};

TEST(Check, ThousandsOfRandomPlansForEveryTargetPassIt) {
  Random random(2026);
  std::map<std::string, int> written, refused;
  for (int i = 0; i < 400; ++i) {
    const Deployment d = random.deployment();
    for (const Target target : {Target::run, Target::compose, Target::k8s, Target::dynamo,
                                Target::llm_d, Target::slurm}) {
      Options options;
      options.target = target;
      options.prefix_cache = random.pick(0, 1) == 0;
      options.lenient = true;
      options.port = random.pick(1, 60000);
      const auto files = generate::generate(d, options);
      const std::string name = d.estimate.framework + " " +
                               std::string(kModeNames[std::size_t(d.estimate.mode)]) + " " +
                               std::string(kTargetNames[std::size_t(target)]);
      ++(files ? written : refused)[name];
      if (files) continue;
      // Layouts that an engine or a target cannot run; never a failed check.
      EXPECT_EQ(files.error().text.find("check"), std::string::npos)
          << name << " " << d.estimate.framework_version << ": " << files.error().text;
    }
  }
  for (const Engine& engine : kEngines) {
    for (const char* target : {"run", "k8s", "dynamo", "llm-d", "slurm"}) {
      EXPECT_GT(written[std::string(engine.framework) + " agg " + target], 5)
          << engine.framework << target;
    }
  }
  for (const auto* never : {"run", "compose", "k8s", "slurm"}) {
    EXPECT_EQ(written[std::string("vllm disagg ") + never], 0);
    EXPECT_GT(refused[std::string("vllm disagg ") + never], 5);
  }
  int all = 0;
  for (const auto& [name, count] : written) all += count;
  EXPECT_GE(all, 1000);
}

// A plan and its right files.
struct Rendered {
  Deployment deployment;
  Options options;
  Plan plan() const {
    Settings s = must(settings(deployment, options), "settings");
    FlagTable flags = must(FlagTable::open(s.framework, s.engine_version), "flags");
    const Placement placement = place(s);
    return {&deployment, options, std::move(s), std::move(flags), placement};
  }
  Files files() const { return must(generate::generate(deployment, options), "files"); }
};

Rendered pools(Target target) {
  Rendered out{
      deployment(R"({"model": "Qwen/Qwen3-32B", "system": "h200_sxm", "isl": 4000, "osl": 1000,
      "framework": "sglang", "mode": "disagg", "prefill": {"workers": 3, "tp": 1, "batch": 1},
      "decode": {"tp": 2, "batch": 40}})"),
      {}};
  out.options.target = target;
  return out;
}
Rendered dynamo() {
  Rendered out = pools(Target::dynamo);
  out.deployment = deployment(R"({"model": "Qwen/Qwen3-32B", "system": "h200_sxm", "isl": 4000,
      "osl": 1000, "framework": "vllm", "mode": "disagg", "prefill": {"workers": 3, "tp": 1, "batch": 1},
      "decode": {"tp": 2, "batch": 40}})");
  return out;
}

// What check says once `pattern` is replaced in every file.
std::string after(const Rendered& right, const std::string& pattern, const std::string& by) {
  Files files = right.files();
  bool changed = false;
  for (File& file : files) {
    const std::string text = std::regex_replace(file.text, std::regex(pattern), by);
    changed = changed || (text != file.text && file.path != "plan.json");
    file.text = text;
  }
  EXPECT_TRUE(changed) << pattern << " is in no file";
  const Plan plan = right.plan();
  const auto checked = check(plan, files);
  return checked ? std::string("passes") : checked.error().text;
}

TEST(Check, EveryWrongScriptIsFound) {
  const Rendered right = pools(Target::run);
  EXPECT_EQ(after(right, "Ctrl-C", "Break"), "passes");
  EXPECT_NE(
      after(right, "--max-running-requests 40", "--max-running-requests 512").find("expected 40"),
      std::string::npos);
  EXPECT_NE(after(right, "32 40", "40 32").find("cuda-graph"), std::string::npos);
  EXPECT_NE(after(right, "32 40", "32 40 40").find("cuda-graph"), std::string::npos);
  EXPECT_NE(after(right, "32 40", "32 40 48").find("cuda-graph"), std::string::npos);
  EXPECT_NE(after(right, "--context-length 6500", "--context-length 4096").find("expected 6500"),
            std::string::npos);
  EXPECT_NE(after(right, "--tp-size 2", "--tp-size 8").find("8 GPUs"), std::string::npos);
  EXPECT_NE(after(right, "--mem-fraction-static 0[.0-9]+", "--mem-fraction-static 0.1")
                .find("mem-fraction-static"),
            std::string::npos);
  EXPECT_NE(
      after(right, "CUDA_VISIBLE_DEVICES=1 ", "CUDA_VISIBLE_DEVICES=0 ").find("given out twice"),
      std::string::npos);
  EXPECT_NE(after(right, "CUDA_VISIBLE_DEVICES=1 ", "CUDA_VISIBLE_DEVICES=1,6,7 ").find("3 GPUs"),
            std::string::npos);
  EXPECT_NE(after(right, "--port 8002", "--port 8001").find("port 8001"), std::string::npos);
  EXPECT_NE(after(right, "--disaggregation-transfer-backend", "--disaggregation-other")
                .find("no connector"),
            std::string::npos);
  EXPECT_NE(after(right, "Qwen/Qwen3-32B", "None").find("says None"), std::string::npos);
}

TEST(Check, EveryWrongObjectIsFound) {
  const Rendered right = dynamo();
  EXPECT_NE(after(right, "gpu: \"2\"", "gpu: \"16\"").find("16 GPUs"), std::string::npos);
  EXPECT_NE(after(right, "replicas: 3", "replicas: 4").find("the plan 5"), std::string::npos);
  EXPECT_NE(
      after(right, "nodeCount|componentType: worker", "multinode: {nodeCount: 8}").find("GPUs"),
      std::string::npos);
  EXPECT_NE(after(right, "--kv-transfer-config", "--kv-other").find("no connector"),
            std::string::npos);
  EXPECT_NE(after(right, "replicas: 3", "replicas: null").find("null"), std::string::npos);
  EXPECT_NE(after(right, "replicas: 3", "replicas:").find("no value"), std::string::npos);
  EXPECT_NE(after(right, "replicas: 3", "replicas: [").find("no YAML"), std::string::npos);
  EXPECT_NE(after(right, "  name: qwen3", "  name: Qwen3_").find("Kubernetes name"),
            std::string::npos);
}

TEST(Readback, FindsTheFlagsOfEachStartInEverySyntax) {
  const std::set<std::string, std::less<>> names{"--a", "--b", "c:"};
  for (const char* text :
       {"x --a 1 --b 2 3 \\\n --other 9\ny --a 4",
        "[--a, \"1\", --b, '2', \"3\", --other, 9, --a, 4]",
        "- --a\n- \"1\"\n- --b\n- \"2\"\n- \"3\"\n- --other\n- \"9\"\n- --a\n- \"4\"\n"}) {
    const auto starts = starts_of(words_of(text), names);
    ASSERT_EQ(starts.size(), 2u) << text;
    EXPECT_EQ(starts[0].at("--b"), (std::vector<std::string>{"2", "3"}));
    EXPECT_EQ(starts[1].at("--a"), (std::vector<std::string>{"4"}));
  }
  EXPECT_EQ(starts_of(words_of("c: [1, 2]\nd: 3\nx --a 4"), names).size(), 2u);
}

TEST(Readback, CountsWhatObjectsClaim) {
  const auto gpus = [](const char* text) { return must(claims_of(text), text).gpus; };
  EXPECT_EQ(gpus("spec: {replicas: 3, template: {resources: {limits: {nvidia.com/gpu: '2'}, "
                 "requests: {nvidia.com/gpu: '2'}}}}"),
            6);
  EXPECT_EQ(gpus("a: {replicas: 2, multinode: {nodeCount: 2}, resources: {limits: {gpu: "
                 "'8'}}}\n---\nb: 1"),
            32);
  EXPECT_EQ(
      gpus(
          "spec: {replicas: 1, leaderWorkerTemplate: {size: 3, leaderTemplate: {limits: {gpu: 8}}, "
          "workerTemplate: {limits: {gpu: 8}}}}"),
      24);
  EXPECT_EQ(gpus("devices: [{device_ids: ['0', '1']}]"), 2);
}

}  // namespace
