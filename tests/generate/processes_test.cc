// SPDX-License-Identifier: Apache-2.0
// From settings to processes with the engines' real flags, and those started on stand-ins.
#include "generate/targets/processes.h"

#include <gtest/gtest.h>

#include <set>

#include "base/process.h"
#include "support/launch.h"

namespace setpoint::generate {
namespace {

struct Case {
  const char *framework, *version;
  Mode mode;
  std::int64_t workers;
  int tp, dp;
  std::int64_t nodes;
};
constexpr Case kVllm{"vllm", "0.24.0", Mode::agg, 2, 2, 1, 1};
constexpr Case kVllmPools{"vllm", "0.24.0", Mode::disagg, 1, 2, 1, 1};
constexpr Case kVllmNodes{"vllm", "0.24.0", Mode::agg, 1, 1, 16, 2};
constexpr Case kSglang{"sglang", "0.5.16", Mode::agg, 2, 1, 4, 1};
constexpr Case kSglangPools{"sglang", "0.5.16", Mode::disagg, 1, 1, 4, 1};
constexpr Case kSglangNodes{"sglang", "0.5.16", Mode::disagg, 1, 1, 16, 2};
constexpr Case kTrtllmPools{"trtllm", "1.2.0", Mode::disagg, 2, 2, 1, 1};
constexpr Case kTrtllmNodes{"trtllm", "1.2.0", Mode::disagg, 1, 16, 1, 2};
constexpr Case kAll[] = {kVllm,        kVllmNodes,   kSglang,     kSglangPools,
                         kSglangNodes, kTrtllmPools, kTrtllmNodes};

RoleSettings role_of(const Case& c, Role kind) {
  RoleSettings role;
  role.role = kind;
  role.workers = c.workers;
  role.system = "h200_sxm";
  role.shard.tp = c.tp;
  role.shard.dp = c.dp;
  role.shard.moe_ep = c.tp * c.dp;
  role.gpus = std::int64_t{c.tp} * c.dp;
  role.nodes = c.nodes;
  role.gpus_on_node = role.gpus / c.nodes;
  role.max_requests = 16;
  role.max_tokens = 4096;
  role.max_len = 6500;
  role.kv_fraction = 0.85;
  if (kind != Role::prefill) role.graph_sizes = {1, 2, 4, 8, 16};
  if (c.mode == Mode::disagg) role.kv_buffer_tokens = 6016;
  return role;
}

Plan plan_of(const Case& c, Target target, std::int64_t port = 8000) {
  Plan plan;
  plan.options.target = target;
  plan.options.port = port;
  plan.settings.framework = c.framework;
  plan.settings.engine_version = c.version;
  plan.settings.mode = c.mode;
  plan.settings.model = plan.settings.served_name = "Qwen/Qwen3-32B";
  plan.settings.moe = c.dp > 1;
  if (c.mode == Mode::disagg) {
    plan.settings.roles = {role_of(c, Role::prefill), role_of(c, Role::decode)};
  } else {
    plan.settings.roles = {role_of(c, Role::mixed)};
  }
  auto flags = FlagTable::open(c.framework, c.version);
  EXPECT_TRUE(flags.ok());
  if (flags) plan.flags = *flags;
  plan.placement = place(plan.settings);
  return plan;
}

Result<Files> files_of(const Case& c, Target target, std::int64_t port = 8000) {
  const Plan plan = plan_of(c, target, port);
  if (target == Target::compose) return compose_files(plan);
  return target == Target::slurm ? slurm_files(plan) : run_files(plan);
}

// Free for a plan: the client's port, its workers' ports behind it.
Launch started(const Case& c, std::int64_t port) {
  auto files = files_of(c, Target::run, port);
  EXPECT_TRUE(files.ok()) << files.error().text;
  return Launch(*files);
}

TEST(Processes, DisaggregatedVllmIsRefusedWithTheTargetsThatWork) {
  for (const Target target : {Target::run, Target::compose, Target::slurm}) {
    const auto files = files_of(kVllmPools, target);
    ASSERT_FALSE(files.ok());
    EXPECT_EQ(files.error().code, ErrorCode::no);
    EXPECT_TRUE(files.error().text.starts_with(kTargetNames[std::size_t(target)]));
    EXPECT_NE(files.error().text.find("dynamo, llm-d"), std::string::npos);
  }
}

TEST(Processes, NoPortIsGivenTwiceOnANode) {
  for (const Case& c : kAll) {
    const Naming naming{.address = [](const PlacedWorker&, const NodePart&) { return Word{"h"}; }};
    auto all = processes(plan_of(c, Target::run), naming);
    ASSERT_TRUE(all.ok()) << all.error().text;
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    if (all->router || all->balancer) seen.insert({0, all->port});
    for (const Process& process : all->workers) {
      if (process.rank > 0) continue;
      EXPECT_TRUE(seen.insert({process.node, process.port}).second) << process.name;
    }
  }
}

TEST(Processes, EveryFormPassesTheShellsOwnChecks) {
  for (const Case& c : kAll) {
    for (const Target target : {Target::run, Target::slurm}) {
      auto files = files_of(c, target);
      ASSERT_TRUE(files.ok()) << c.framework << ": " << files.error().text;
      const Launch launch(*files);
      for (const File& file : *files) {
        if (!file.executable) continue;
        const auto checked = base::run_program({"shellcheck", launch.plan() / file.path});
        ASSERT_TRUE(checked.ok());
        EXPECT_EQ(checked->exit_code, 0) << checked->out;
      }
      EXPECT_EQ(*files, *files_of(c, target));
    }
  }
}

TEST(Processes, SglangPoolsAndTheirRouterRun) {
  const std::int64_t port = free_ports(3);
  Launch launch = started(kSglangPools, port);
  launch.start("run_node0.sh");
  ASSERT_TRUE(launch.wait_said("ready: ")) << launch.said();
  std::map<std::string, base::Json> by_port;
  for (const base::Json& event : launch.events()) {
    by_port[std::to_string(event["port"].get<std::int64_t>() - port)] = event;
  }
  ASSERT_EQ(by_port.size(), 3u);
  EXPECT_EQ(by_port["1"]["devices"], "0,1,2,3");
  EXPECT_EQ(by_port["2"]["devices"], "4,5,6,7");
  const base::Json& router = by_port["0"]["arguments"];
  const auto at = [&](const std::string& url) {
    return std::find(router.begin(), router.end(), "http://127.0.0.1:" + url);
  };
  ASSERT_NE(at(std::to_string(port + 1)), router.end());
  EXPECT_EQ(*(at(std::to_string(port + 1)) + 1), "8998");
  EXPECT_NE(at(std::to_string(port + 2)), router.end());
}

TEST(Processes, SeveralVllmWorkersRunBehindNginx) {
  const std::int64_t port = free_ports(3);
  Launch launch = started(kVllm, port);
  launch.start("run_node0.sh");
  ASSERT_TRUE(launch.wait_said("ready: ")) << launch.said();
  const auto events = launch.events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[2]["program"], "nginx");
  EXPECT_EQ(events[2]["port"], port);
}

TEST(Processes, TensorRtLlmReadsItsOptionsBesideTheScript) {
  const std::int64_t port = free_ports(5);
  Launch launch = started(kTrtllmPools, port);
  launch.start("run_node0.sh");
  ASSERT_TRUE(launch.wait_said("ready: ")) << launch.said();
  ASSERT_EQ(launch.events().size(), 5u);  // two workers each and the server in front
  for (const base::Json& event : launch.events()) {
    const base::Json& words = event["arguments"];
    const auto flag = std::find_if(words.begin(), words.end(), [](const base::Json& word) {
      return word == "--config" || word == "--extra_llm_api_options" || word == "-c";
    });
    ASSERT_NE(flag, words.end()) << event;
    EXPECT_TRUE(std::filesystem::exists(launch.plan() / (flag + 1)->get<std::string>())) << event;
  }
}

TEST(Processes, NginxAcceptsItsConfigurationWhereItIsInstalled) {
  if (!base::run_program({"nginx", "-v"}).ok()) GTEST_SKIP() << "nginx is not installed";
  auto files = files_of(kVllm, Target::run);
  ASSERT_TRUE(files.ok());
  const Launch launch(*files);
  std::filesystem::create_directory(launch.plan() / "logs");
  const auto ran = base::run_program({"nginx", "-t", "-q", "-p", launch.plan() / "logs/", "-c",
                                      launch.plan() / "nginx.conf", "-g", "pid nginx.pid;"});
  EXPECT_EQ(ran->exit_code, 0);
}

}  // namespace
}  // namespace setpoint::generate
