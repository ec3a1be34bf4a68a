// SPDX-License-Identifier: Apache-2.0
// The batch script runs here with stand-ins for srun and scontrol; "nodes" are loopback addresses.
#include <gtest/gtest.h>

#include "base/process.h"
#include "generate/sample_plan.h"
#include "generate/targets/local.h"
#include "support/launch.h"

namespace setpoint::generate {
namespace {

constexpr const char* kScontrol =
    "#!/usr/bin/env bash\n[ \"$1 $2\" = 'show hostnames' ] && tr , '\\n' <<<\"$3\"\n";

Process at(Process process, std::int64_t node) {
  process.node = node;
  process.address = {"${NODE" + std::to_string(node) + "_ADDR}", true};
  return process;
}

// One vLLM worker over both nodes.
Processes over_two_nodes(std::int64_t port) {
  Processes all;
  all.port = port;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    Process process = at(sample_process("worker-0", {"vllm", "serve", "a model"}, port, {0, 1}), 0);
    process.name += "-rank-" + std::to_string(rank);
    process.node = process.rank = rank;
    process.ranks = 2;
    auto& argv = process.command.argv;
    argv.insert(argv.end(), {{"--node-rank"}, {"$SLURM_PROCID", true}, {"--master-addr"}});
    argv.push_back({"${NODE0_ADDR}", true});
    if (rank > 0) argv.push_back({"--headless"});
    all.workers.push_back(process);
  }
  return all;
}

Processes routed(std::int64_t port) {
  Processes all;
  all.port = port;
  const std::vector<std::string> sglang{"python3", "-m", "sglang.launch_server"};
  all.workers = {at(sample_process("prefill-0", sglang, port + 1, {0, 1}), 0),
                 at(sample_process("decode-0", sglang, port + 1, {0, 1}), 1)};
  all.router = sample_process("router", {"python3", "-m", "sglang_router.launch_router"}, port, {});
  return all;
}

Processes mpi(std::int64_t port) {
  Processes all;
  all.port = port;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    all.workers.push_back(
        at(sample_process("worker-0", {"trtllm-llmapi-launch", "trtllm-serve", "m"}, port, {0, 1}),
           0));
    all.workers.back().node = all.workers.back().rank = rank;
    all.workers.back().ranks = 2;
    all.workers.back().command.mpi = true;
    all.workers.back().command.config_yaml = "a: 1\n";
    all.workers.back().config_path = "worker.yaml";
  }
  return all;
}

class Job : public Launch {
 public:
  explicit Job(const Processes& all)
      : Launch(slurm_job(sample_plan(2, 1, 4), all),
               {"srun", *base::read_file(SETPOINT_SOURCE_DIR "/tests/support/srun.py"), "scontrol",
                kScontrol}) {}
  void submit() {
    start("job.sbatch",
          {{"SLURM_SUBMIT_DIR", plan().string()}, {"SLURM_JOB_NODELIST", "127.0.0.1,127.0.0.2"}});
  }
};

TEST(Slurm, AWorkerOverTwoNodesIsOneStepWithItsRanks) {
  Job job(over_two_nodes(free_ports(1)));
  job.submit();
  ASSERT_TRUE(job.wait_said("ready: ")) << job.said() << job.log("worker-0");
  const auto steps = job.events("srun");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0]["options"]["nodelist"], "127.0.0.1,127.0.0.2");
  EXPECT_EQ(steps[0]["options"]["nodes"], "2");
  EXPECT_EQ(steps[0]["options"]["gpus-per-node"], "2");
  ASSERT_TRUE(poll([&] { return job.events().size() == 2; }));
  auto events = job.events();
  if (events[0]["rank"] != "0") std::swap(events[0], events[1]);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const base::Json& arguments = events[rank]["arguments"];
    EXPECT_EQ(events[rank]["devices"], "0,1");
    EXPECT_EQ(events[rank]["node"], rank == 0 ? "127.0.0.1" : "127.0.0.2");
    EXPECT_EQ(arguments[1], "a model");
    EXPECT_EQ(arguments[5], std::to_string(rank));
    EXPECT_EQ(arguments[7], "127.0.0.1");
    EXPECT_EQ(arguments.back() == "--headless", rank == 1);
  }
}

TEST(Slurm, TheRouterStartsOnTheFirstNodeWhenAllAreHealthy) {
  Job job(routed(free_ports(2)));
  job.submit();
  ASSERT_TRUE(job.wait_said("ready: ")) << job.said();
  const auto events = job.events("");
  EXPECT_EQ(events.back()["event"], "healthy");
  EXPECT_EQ(events.back()["program"], "sglang_router.launch_router");
  const auto steps = job.events("srun");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[2]["options"]["nodelist"], "127.0.0.1");
  std::size_t healthy = 0;
  for (const base::Json& event : events) {
    if (event["event"] == "srun" && event["options"]["nodelist"] == "127.0.0.1" && healthy > 0) {
      EXPECT_EQ(healthy, 2u);
    }
    healthy += event["event"] == "healthy" ? 1 : 0;
  }
}

TEST(Slurm, AFailingWorkerEndsTheJobAndItsLogIsNamed) {
  const std::int64_t port = free_ports(2);
  Job job(routed(port));
  job.submit();
  ASSERT_TRUE(job.wait_said("ready: ")) << job.said();
  job.demand("fail-" + std::to_string(port));
  EXPECT_EQ(job.exit_code(), 1);
  EXPECT_NE(job.said().find("router ended with exit code 3"), std::string::npos) << job.said();
  EXPECT_NE(job.said().find("logs/router.log"), std::string::npos);
  EXPECT_TRUE(job.left().empty());
}

TEST(Slurm, AnMpiWorkerIsOneStepOfOneTaskAGpu) {
  Job job(mpi(free_ports(1)));
  job.submit();
  ASSERT_TRUE(job.wait_said("ready: ")) << job.said() << job.log("worker-0");
  const auto steps = job.events("srun");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0]["options"]["ntasks"], "4");
  EXPECT_EQ(steps[0]["options"]["ntasks-per-node"], "2");
  EXPECT_EQ(steps[0]["options"]["mpi"], "pmix");
  job.signal_script(SIGTERM);
  EXPECT_EQ(job.exit_code(), 143);
  EXPECT_TRUE(job.left().empty());
}

TEST(Slurm, TheJobAsksForWholeNodesAndPassesTheShellsOwnChecks) {
  for (const Processes& all : {over_two_nodes(8000), routed(8000), mpi(8000)}) {
    Plan plan = sample_plan(2, 1, 4);
    plan.options.image = "registry/image:1";
    const Files files = slurm_job(plan, all);
    const std::string& text = files[0].text;
    for (const char* line : {"#SBATCH --nodes=2\n", "#SBATCH --gpus-per-node=2\n",
                             "#SBATCH --ntasks-per-node=1\n", "#SBATCH --exclusive\n"}) {
      EXPECT_NE(text.find(line), std::string::npos) << line;
      EXPECT_LT(text.find(line), text.find("set -euo")) << "sbatch reads to the first command";
    }
    EXPECT_NE(text.find("--container-image=registry/image:1"), std::string::npos);
    const Launch launch(files);
    const std::string path = launch.plan() / "job.sbatch";
    EXPECT_EQ(base::run_program({"bash", "-n", path})->exit_code, 0);
    const auto checked = base::run_program({"shellcheck", path});
    ASSERT_TRUE(checked.ok()) << "scripts/install-deps --test installs shellcheck";
    EXPECT_EQ(checked->exit_code, 0) << checked->out;
  }
}

TEST(Slurm, TwoKindsOfNodesAreRefused) {
  Plan plan = sample_plan(2, 1, 2);
  plan.settings.roles.push_back(plan.settings.roles[0]);
  plan.settings.roles[1].system = "b200_sxm";
  const auto files = slurm_files(plan);
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code, ErrorCode::no);
  EXPECT_NE(files.error().text.find("b200_sxm"), std::string::npos);
}

}  // namespace
}  // namespace setpoint::generate
