// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/process.h"
#include "generate/sample_plan.h"
#include "generate/targets/local.h"
#include "support/launch.h"

namespace setpoint::generate {
namespace {

Processes two_workers(std::int64_t port) {
  Processes all;
  all.port = port;
  all.workers = {
      sample_process("worker-0", {"vllm", "serve", "a model", "--json", R"({"a":"$b'c"})"}, port,
                     {0, 1}),
      sample_process("worker-1", {"vllm", "serve", "a model"}, port + 1, {2, 3})};
  return all;
}

// Two workers of SGLang and its router, on `port` and the two behind it.
Processes routed(std::int64_t port) {
  Processes all;
  all.port = port;
  for (std::int64_t i = 0; i < 2; ++i) {
    all.workers.push_back(sample_process(i == 0 ? "prefill-0" : "decode-0",
                                         {"python3", "-m", "sglang.launch_server"}, port + 1 + i,
                                         {i}));
  }
  all.router = sample_process("router", {"python3", "-m", "sglang_router.launch_router"}, port, {});
  return all;
}

TEST(Run, StartsEveryWorkerWithItsDevicesAndItsArgumentsUnchanged) {
  const std::int64_t port = free_ports(2);
  Launch launch(run_scripts(sample_plan(1, 2, 2), two_workers(port)));
  launch.start("run_node0.sh");
  ASSERT_TRUE(launch.wait_said("ready: ")) << launch.said();
  EXPECT_NE(launch.said().find("serves it's \"prod\""), std::string::npos);
  auto events = launch.events();
  ASSERT_EQ(events.size(), 2u);
  if (events[0]["port"] != port) std::swap(events[0], events[1]);
  EXPECT_EQ(events[0]["devices"], "0,1");
  EXPECT_EQ(events[1]["devices"], "2,3");
  EXPECT_EQ(events[0]["arguments"], (base::Json{"serve", "a model", "--json", R"({"a":"$b'c"})",
                                                "--port", std::to_string(port)}));
}

TEST(Run, StartsTheRouterWhenEveryWorkerIsHealthy) {
  const std::int64_t port = free_ports(3);
  Launch launch(run_scripts(sample_plan(1, 2, 1), routed(port)));
  launch.demand("sick-" + std::to_string(port + 2));
  launch.start("run_node0.sh");
  ASSERT_TRUE(launch.wait_said("waiting for decode-0")) << launch.said();
  ASSERT_TRUE(poll([&] { return launch.events().size() == 2; }));
  launch.withdraw("sick-" + std::to_string(port + 2));
  ASSERT_TRUE(launch.wait_said("ready: ")) << launch.said();

  std::vector<std::string> order;
  for (const base::Json& event : launch.events("")) {
    order.push_back(event["event"].get<std::string>() + " " +
                    std::to_string(event["port"].get<std::int64_t>() - port));
  }
  ASSERT_EQ(order.size(), 6u);
  EXPECT_EQ(std::vector(order.begin() + 2, order.end()),
            (std::vector<std::string>{"healthy 1", "healthy 2", "start 0", "healthy 0"}));
  const std::string said = launch.said();
  EXPECT_LT(said.find("starting prefill-0"), said.find("starting decode-0"));
}

TEST(Run, AWorkerThatFailsEndsTheWholeAndItsLogIsShown) {
  const std::int64_t port = free_ports(2);
  Launch launch(run_scripts(sample_plan(1, 2, 2), two_workers(port)));
  launch.start("run_node0.sh");
  ASSERT_TRUE(launch.wait_said("ready: ")) << launch.said();
  launch.demand("fail-" + std::to_string(port + 1));
  EXPECT_EQ(launch.exit_code(), 1);
  EXPECT_NE(launch.said().find("worker-1 ended with exit code 3"), std::string::npos);
  EXPECT_NE(launch.said().find("logs/worker-1.log"), std::string::npos);
  EXPECT_NE(launch.said().find("CUDA out of memory"), std::string::npos);
  EXPECT_TRUE(launch.left().empty());
}

TEST(Run, AWorkerThatFailsWhileItStartsEndsTheWhole) {
  const std::int64_t port = free_ports(2);
  Launch launch(run_scripts(sample_plan(1, 2, 2), two_workers(port)));
  launch.demand("sick-" + std::to_string(port));
  launch.demand("fail-" + std::to_string(port + 1));
  launch.start("run_node0.sh");
  EXPECT_EQ(launch.exit_code(), 1);
  EXPECT_NE(launch.said().find("worker-1 ended with exit code 3"), std::string::npos);
  EXPECT_TRUE(launch.left().empty());
}

TEST(Run, AnEngineThatIsNotInstalledIsNamed) {
  const std::int64_t port = free_ports(2);
  Processes all = two_workers(port);
  all.workers[1].command.argv[0] = {"no-such-engine"};
  Launch launch(run_scripts(sample_plan(1, 2, 2), all));
  launch.start("run_node0.sh");
  EXPECT_EQ(launch.exit_code(), 1);
  EXPECT_NE(launch.said().find("worker-1 ended with exit code 127"), std::string::npos);
  EXPECT_NE(launch.log("worker-1").find("no-such-engine"), std::string::npos);
  EXPECT_TRUE(launch.left().empty());
}

TEST(Run, AWorkerThatNeverGetsHealthyIsGivenUpAndNamed) {
  const std::int64_t port = free_ports(2);
  Launch launch(run_scripts(sample_plan(1, 2, 2), two_workers(port)));
  launch.demand("sick-" + std::to_string(port + 1));
  launch.start("run_node0.sh", {{"START_TIMEOUT_S", "4"}});
  EXPECT_EQ(launch.exit_code(), 1);
  EXPECT_NE(launch.said().find("worker-1 is not healthy after 4 s"), std::string::npos)
      << launch.said();
  EXPECT_TRUE(launch.left().empty());
}

TEST(Run, ASignalLeavesNoProcess) {
  for (const auto& [signal, code] : std::map<int, int>{{SIGINT, 130}, {SIGTERM, 143}}) {
    const std::int64_t port = free_ports(3);
    Launch launch(run_scripts(sample_plan(1, 2, 1), routed(port)));
    launch.start("run_node0.sh");
    ASSERT_TRUE(launch.wait_said("ready: ")) << launch.said();
    EXPECT_GE(launch.left().size(), 10u);  // the script, three engines, two children of each
    launch.signal_script(signal);
    EXPECT_EQ(launch.exit_code(), code);
    EXPECT_TRUE(launch.left().empty());
  }
}

TEST(Run, ASignalDuringTheStartLeavesNoProcess) {
  const std::int64_t port = free_ports(2);
  Launch launch(run_scripts(sample_plan(1, 2, 2), two_workers(port)));
  launch.demand("sick-" + std::to_string(port));
  launch.start("run_node0.sh");
  ASSERT_TRUE(poll([&] { return launch.events().size() == 2; })) << launch.said();
  launch.signal_script(SIGINT);
  EXPECT_EQ(launch.exit_code(), 130);
  EXPECT_TRUE(launch.left().empty());
}

TEST(Run, WhatIgnoresTheRequestToEndIsKilled) {
  const std::int64_t port = free_ports(2);
  Launch launch(run_scripts(sample_plan(1, 2, 2), two_workers(port)));
  launch.start("run_node0.sh", {{"TEST_STUBBORN", "1"}, {"STOP_TIMEOUT_S", "1"}});
  ASSERT_TRUE(launch.wait_said("ready: ")) << launch.said();
  launch.signal_script(SIGINT);
  EXPECT_EQ(launch.exit_code(), 130);
  EXPECT_NE(launch.said().find("killing what has not ended after 1 s"), std::string::npos);
  EXPECT_TRUE(launch.left().empty());
}

TEST(Run, APortThatIsInUseIsRefusedBeforeAnythingStarts) {
  const std::int64_t port = free_ports(2);
  Launch other(run_scripts(sample_plan(1, 2, 2), two_workers(port)));
  other.start("run_node0.sh");
  ASSERT_TRUE(other.wait_said("ready: "));
  Launch launch(run_scripts(sample_plan(1, 2, 2), two_workers(port)));
  launch.start("run_node0.sh");
  EXPECT_EQ(launch.exit_code(), 1);
  EXPECT_NE(launch.said().find("port " + std::to_string(port)), std::string::npos);
  EXPECT_TRUE(launch.events().empty());
}

Processes over_two_nodes(std::int64_t port) {
  Processes all;
  all.port = port;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    Process process =
        sample_process("worker-0-rank-" + std::to_string(rank), {"vllm", "serve"}, port, {0, 1});
    process.node = process.rank = rank;
    process.ranks = 2;
    process.address = {"${NODE0_ADDR}", true};
    process.command.argv.push_back({"--master-addr"});
    process.command.argv.push_back({"${NODE0_ADDR}", true});
    if (rank > 0) process.command.argv.push_back({"--headless"});
    all.workers.push_back(process);
  }
  return all;
}

TEST(Run, SeveralNodesWantTheAddressesOfAll) {
  const std::int64_t port = free_ports(1);
  const Files files = run_scripts(sample_plan(2, 1, 4), over_two_nodes(port));
  Launch launch(files);
  launch.start("run_node1.sh", {{"NODE0_ADDR", "127.0.0.1"}});
  EXPECT_EQ(launch.exit_code(), 2);
  EXPECT_NE(launch.said().find("NODE1_ADDR is not set"), std::string::npos) << launch.said();

  const std::map<std::string, std::string> addresses{{"NODE0_ADDR", "127.0.0.1"},
                                                     {"NODE1_ADDR", "127.0.0.2"}};
  Launch head(files), rest(files);
  rest.start("run_node1.sh", addresses);
  ASSERT_TRUE(rest.wait_said("waiting for worker-0-rank-1: http://127.0.0.1:")) << rest.said();
  head.start("run_node0.sh", addresses);
  ASSERT_TRUE(head.wait_said("ready: ")) << head.said();
  ASSERT_TRUE(rest.wait_said("ready: ")) << rest.said();
  EXPECT_EQ(head.events()[0]["arguments"].back(), "127.0.0.1");
}

TEST(Run, ANodeEndsItsPartWhenTheHeadOfItsWorkerIsLost) {
  const std::int64_t port = free_ports(1);
  const Files files = run_scripts(sample_plan(2, 1, 4), over_two_nodes(port));
  Launch head(files), rest(files);
  std::map<std::string, std::string> environment{
      {"NODE0_ADDR", "127.0.0.1"}, {"NODE1_ADDR", "127.0.0.2"}, {"LOST_TIMEOUT_S", "1"}};
  rest.start("run_node1.sh", environment);  // first: here the "nodes" share their ports
  ASSERT_TRUE(rest.wait_said("waiting for ")) << rest.said();
  head.start("run_node0.sh", environment);
  ASSERT_TRUE(rest.wait_said("ready: ")) << rest.said();
  head.signal_script(SIGTERM);
  EXPECT_EQ(rest.exit_code(), 1);
  EXPECT_NE(rest.said().find("worker-0-rank-1 has not answered for 1 s"), std::string::npos);
  EXPECT_TRUE(rest.left().empty());
}

// Every form of script: one node and several, router, balancer, MPI, hostile names.
std::vector<Files> every_form() {
  std::vector<Files> out;
  const Plan one = sample_plan(1, 2, 2);
  Plan hostile = one;
  hostile.settings.model = hostile.settings.served_name = "a\nrm -rf x; $(id) `id` 'q' \"";
  out.push_back(run_scripts(one, two_workers(8000)));
  out.push_back(run_scripts(hostile, routed(8000)));
  Processes balanced = two_workers(8001);
  balanced.port = 8000;
  balanced.balancer = "upstream workers { server ${NODE0_ADDR}:8001; server ${NODE1_ADDR}:8002; }";
  out.push_back(run_scripts(one, balanced));
  Processes mpi;
  for (std::int64_t node = 0; node < 2; ++node) {
    mpi.workers.push_back(
        sample_process("worker-0", {"trtllm-llmapi-launch", "trtllm-serve", "m"}, 8000, {0, 1}));
    mpi.workers.back().node = mpi.workers.back().rank = node;
    mpi.workers.back().ranks = 2;
    mpi.workers.back().command.mpi = true;
    mpi.workers.back().command.config_yaml = "a: 1\n";
    mpi.workers.back().config_path = "worker.yaml";
  }
  mpi.router = sample_process("router", {"trtllm-serve", "disaggregated"}, 8000, {});
  mpi.router->command.config_yaml = "urls: ['${NODE0_ADDR}:8001']\n";
  mpi.router->command.config_expands = true;
  mpi.router->config_path = "logs/router.yaml";
  mpi.balancer = balanced.balancer;
  out.push_back(run_scripts(sample_plan(2, 1, 4), mpi));
  return out;
}

TEST(Run, EveryScriptPassesTheShellsOwnChecks) {
  for (const Files& files : every_form()) {
    const Launch launch(files);
    for (const File& file : files) {
      if (!file.executable) continue;
      const std::string path = launch.plan() / file.path;
      EXPECT_EQ(base::run_program({"bash", "-n", path})->exit_code, 0) << file.text;
      auto checked = base::run_program({"shellcheck", path});
      ASSERT_TRUE(checked.ok()) << "scripts/install-deps --test installs shellcheck";
      EXPECT_EQ(checked->exit_code, 0) << checked->out;
    }
  }
}

TEST(Run, RanksOfOneMpiJobAreStartedFromTheFirstNode) {
  const Files files = every_form().back();
  ASSERT_EQ(files.size(), 2u);  // the second node has nothing to start
  EXPECT_EQ(files[0].path, "run_node0.sh");
  EXPECT_NE(files[0].text.find("start worker-0 mpirun \\\n"
                               "  --allow-run-as-root \\\n"
                               "  --host \"${NODE0_ADDR}:2,${NODE1_ADDR}:2\" \\\n"
                               "  --map-by ppr:2:node -x CUDA_VISIBLE_DEVICES \\\n"
                               "  -- trtllm-llmapi-launch trtllm-serve m"),
            std::string::npos)
      << files[0].text;
  EXPECT_EQ(files[1], (File{"worker.yaml", "a: 1\n", false}));
}

TEST(Run, AddressesKnownOnlyWhenItRunsAreWrittenThen) {
  const Files files = every_form().back();
  EXPECT_NE(files[0].text.find("printf %s \"urls: ['${NODE0_ADDR}:8001']\n\" >logs/router.yaml"),
            std::string::npos)
      << files[0].text;
}

TEST(Run, ABalancerStandsInFrontOfSeveralWorkersWhereNginxIsInstalled) {
  const std::int64_t port = free_ports(3);
  Processes all = two_workers(port + 1);
  all.port = port;
  all.balancer = "listen " + std::to_string(port) + ";";
  Launch launch(run_scripts(sample_plan(1, 2, 2), all));
  launch.start("run_node0.sh");
  ASSERT_TRUE(launch.wait_said("ready: ")) << launch.said();
  EXPECT_EQ(launch.events().back()["program"], "nginx");
  EXPECT_NE(launch.said().find("balancer is healthy"), std::string::npos);
}

TEST(Run, TheSamePlanGivesTheSameBytes) { EXPECT_EQ(every_form(), every_form()); }

}  // namespace
}  // namespace setpoint::generate
