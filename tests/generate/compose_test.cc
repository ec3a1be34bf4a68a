// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "base/process.h"
#include "generate/sample_plan.h"
#include "generate/targets/local.h"
#include "support/launch.h"

namespace setpoint::generate {
namespace {

Processes two_workers() {
  Processes all;
  all.workers = {
      sample_process("worker-0", {"vllm", "serve", "m", "--json", R"({"a":"$b"})"}, 8001, {0, 1}),
      sample_process("worker-1", {"vllm", "serve", "m"}, 8002, {2, 3})};
  all.balancer = "events {}\n";
  return all;
}

Processes pools() {
  Processes all;
  all.workers = {sample_process("prefill-0", {"trtllm-serve", "m"}, 8001, {0}),
                 sample_process("decode-0", {"trtllm-serve", "m"}, 8002, {1})};
  for (Process& process : all.workers) {
    process.command.config_yaml = "a: 1\n";
    process.config_path = "/engine/" + process.name + ".yaml";
  }
  all.router = sample_process("router", {"trtllm-serve", "disaggregated"}, 8000, {});
  return all;
}

YAML::Node services(const Files& files) { return YAML::Load(files.at(0).text)["services"]; }
std::vector<std::string> words(const YAML::Node& node) {
  return node.as<std::vector<std::string>>();
}

TEST(Compose, AServiceHasItsGpusItsCommandAndItsHealth) {
  const YAML::Node worker =
      services(compose_document(sample_plan(1, 2, 2), two_workers()))["worker-0"];
  EXPECT_EQ(worker["image"].as<std::string>(), "vllm/vllm-openai:v0.24.0");
  EXPECT_EQ(words(worker["entrypoint"]), (std::vector<std::string>{"vllm"}));
  EXPECT_EQ(words(worker["command"]),
            (std::vector<std::string>{"serve", "m", "--json", R"({"a":"$$b"})", "--port", "8001"}));
  const YAML::Node devices = worker["deploy"]["resources"]["reservations"]["devices"];
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(words(devices[0]["device_ids"]), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(words(devices[0]["capabilities"]), (std::vector<std::string>{"gpu"}));
  EXPECT_EQ(worker["ipc"].as<std::string>(), "host");
  EXPECT_EQ(worker["ulimits"]["memlock"].as<int>(), -1);
  EXPECT_NE(words(worker["healthcheck"]["test"])[3].find("127.0.0.1:8001/health"),
            std::string::npos);
  EXPECT_EQ(words(worker["environment"])[1], "HF_TOKEN");  // without a value: passed on if set
  EXPECT_FALSE(worker["ports"]);                           // clients talk to the balancer
}

TEST(Compose, TheBalancerWaitsForEveryWorkerAndIsWhatClientsReach) {
  const Files files = compose_document(sample_plan(1, 2, 2), two_workers());
  const YAML::Node balancer = services(files)["balancer"];
  for (const char* name : {"worker-0", "worker-1"}) {
    EXPECT_EQ(balancer["depends_on"][name]["condition"].as<std::string>(), "service_healthy");
  }
  EXPECT_EQ(words(balancer["ports"]), (std::vector<std::string>{"8000:8000"}));
  EXPECT_EQ(files[1], (File{"nginx.conf", "events {}\n", false}));
}

TEST(Compose, DisaggregatedServicesShareTheMachinesNetwork) {
  Plan plan = sample_plan(1, 1, 1);
  plan.settings.mode = Mode::disagg;
  plan.settings.model = "/models/it's here";
  plan.options.image = "my/image:1";
  const Files files = compose_document(plan, pools());
  const YAML::Node all = services(files);
  for (const char* name : {"prefill-0", "decode-0", "router"}) {
    EXPECT_EQ(all[name]["network_mode"].as<std::string>(), "host");
    EXPECT_FALSE(all[name]["ports"]);
    EXPECT_EQ(all[name]["image"].as<std::string>(), "my/image:1");
    EXPECT_EQ(all[name]["volumes"][1]["source"].as<std::string>(), "/models/it's here");
  }
  EXPECT_FALSE(all["router"]["deploy"]);  // no GPU
  EXPECT_EQ(all["prefill-0"]["volumes"][2]["source"].as<std::string>(), "./prefill-0.yaml");
  EXPECT_EQ(all["prefill-0"]["volumes"][2]["target"].as<std::string>(), "/engine/prefill-0.yaml");
  EXPECT_EQ(files[1].path, "prefill-0.yaml");
}

TEST(Compose, TheClientsOwnCheckAcceptsTheFileWhereThereIsOne) {
  std::vector<std::string> client{"docker", "compose"};
  const auto has = [](std::vector<std::string> words) {
    words.emplace_back("version");
    const auto ran = base::run_program(words);
    return ran.ok() && ran->exit_code == 0;
  };
  if (!has(client)) client = {"docker-compose"};
  if (!has(client)) GTEST_SKIP() << "neither docker compose nor docker-compose is installed";
  for (const Processes& all : {two_workers(), pools()}) {
    const Launch launch(compose_document(sample_plan(1, 2, 2), all));
    std::vector<std::string> words = client;
    words.insert(words.end(), {"-f", launch.plan() / "compose.yaml", "config"});
    const auto ran = base::run_program(words);
    EXPECT_EQ(ran->exit_code, 0) << ran->out;
  }
}

TEST(Compose, SeveralMachinesAreRefused) {
  const auto files = compose_files(sample_plan(2, 1, 16));
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code, ErrorCode::no);
  EXPECT_NE(files.error().text.find("slurm"), std::string::npos);
}

TEST(Compose, TheSamePlanGivesTheSameBytesWithoutNull) {
  const Files files = compose_document(sample_plan(1, 2, 2), two_workers());
  EXPECT_EQ(files, compose_document(sample_plan(1, 2, 2), two_workers()));
  EXPECT_EQ(files[0].text.find("null"), files[0].text.find("/dev/null") + 5);
}

}  // namespace
}  // namespace setpoint::generate
