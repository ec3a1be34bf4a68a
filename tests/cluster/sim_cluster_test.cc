// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim_cluster.h"

#include <cmath>
#include <set>

#include "base/file.h"
#include "cluster/open.h"
#include "log_steps.h"
#include "permits.h"
#include "recipe/read.h"
#include "shipped_recipe.h"

namespace setpoint::cluster {
namespace {

namespace fs = std::filesystem;

class SimClusterTest : public ::testing::Test {
 protected:
  SimClusterTest() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root = fs::path(::testing::TempDir()) / (std::string("sim_cluster_") + info->name());
    fs::remove_all(root);
    spec.machine.system = hw::find_system("h100_sxm").value();
    spec.nodes = 10;
    spec.seed = 7;
  }
  ~SimClusterTest() override { fs::remove_all(root); }

  recipe::Snapshot frozen(const Settings& changed = {}) {
    const recipe::Recipe recipe = shipped_recipe("qwen3-30b-h100");
    recipe::FinalValues values = final_values(recipe);
    for (const auto& [key, value] : changed) values.parameters[key] = value;
    auto snapshot = recipe::Snapshot::freeze(recipe, values);
    EXPECT_TRUE(snapshot.ok());
    fs::create_directories(root / "snapshots");
    EXPECT_TRUE(snapshot->store(root / "snapshots").ok());
    return std::move(snapshot).value();
  }
  std::unique_ptr<SimCluster> open() {
    auto cluster = SimCluster::open(spec, root / "cluster", root / "snapshots");
    EXPECT_TRUE(cluster.ok());
    return std::move(cluster).value();
  }
  // Waits until it ended, in as many steps as the cluster likes.
  static Report run_out(SimCluster& cluster, const std::string& id) {
    for (int i = 0; i < 100; ++i) {
      const Report report = cluster.poll(id).value();
      if (report.life == Life::ended) return report;
      EXPECT_TRUE(cluster.wait(id, Seconds(1e6)).ok());
    }
    ADD_FAILURE() << "never ended";
    return {};
  }
  Report whole(const Settings& changed, const std::string& trial = "t1", double limit_s = 7200) {
    const auto snapshot = frozen(changed);
    auto cluster = open();
    const std::string id = cluster->submit(permit_for(snapshot, trial, 16, limit_s)).value();
    const Report report = run_out(*cluster, id);
    EXPECT_TRUE(cluster->release(id).ok());
    return report;
  }

  fs::path root;
  SimSpec spec;
};

double mean_step_ms(const Report& report) {
  const auto steps = log_steps(base::read_file(report.files.at("log")).value());
  double sum = 0;
  for (std::size_t i = 5; i < steps.size(); ++i) sum += steps[i].ms;
  return sum / double(steps.size() - 5);
}

TEST_F(SimClusterTest, RunsARecipeFromTheQueueToItsRelease) {
  const auto snapshot = frozen();
  auto cluster = open();
  const double asked = cluster->now().value();
  const std::string id = cluster->submit(permit_for(snapshot, "t1", 16, 7200)).value();
  EXPECT_EQ(cluster->poll(id)->life, Life::queued);
  EXPECT_TRUE(cluster->poll(id)->held.holds.empty());
  const Report report = run_out(*cluster, id);
  EXPECT_EQ(report.outcome, "done");
  EXPECT_EQ(report.exit_code, 0);
  ASSERT_EQ(report.held.holds.size(), 2U);
  EXPECT_EQ(report.held.holds[0].gpus, 8);
  EXPECT_GT(report.held.holds[0].start.value(), asked);
  EXPECT_FALSE(report.held.holds[0].end);
  EXPECT_EQ(report.held.jobs[0].trial, "t1");
  ASSERT_TRUE(cluster->release(id).ok());
  const Report released = cluster->poll(id).value();
  EXPECT_EQ(released.life, Life::released);
  EXPECT_GT(released.held.holds[0].end->value(), report.held.jobs[0].end->value());
}

TEST_F(SimClusterTest, WritesItsFilesInTheFrameworksOwnForms) {
  const Report report = whole({});
  const auto steps = log_steps(base::read_file(report.files.at("log")).value());
  ASSERT_EQ(steps.size(), 20U);
  EXPECT_GT(steps[0].ms, 2 * steps[10].ms);  // it warms up
  EXPECT_GT(steps[0].grad_norm, 0.1);
  const auto run = recipe::read_run(report.files.at("values"));
  ASSERT_TRUE(run.ok()) << run.error().text;
  const auto snapshot = frozen();
  EXPECT_EQ(run->values.parameters, snapshot.effective().parameters);
  EXPECT_EQ(run->values.environment, snapshot.effective().environment);
}

TEST_F(SimClusterTest, TakesTheTimeThatTheModelSaysGiveOrTakeItsNoise) {
  const double expected = computed("qwen3-30b-h100").terms.total().value();
  const double got = mean_step_ms(whole({}));
  EXPECT_GT(got, expected * 0.98);
  EXPECT_LT(got, expected * 1.04);
}

TEST_F(SimClusterTest, GivesEveryRunOtherNodesAndAnotherSpeedButAlwaysTheSame) {
  const Report first = whole({}, "t1");
  const Report second = whole({}, "t2");
  std::set<std::string> nodes;
  for (const Report& report : {first, second}) {
    for (const auto& hold : report.held.holds) nodes.insert(hold.node);
  }
  EXPECT_GT(nodes.size(), 2U);
  EXPECT_NE(mean_step_ms(first), mean_step_ms(second));
  const double before = mean_step_ms(first);
  fs::remove_all(root / "cluster");
  EXPECT_EQ(mean_step_ms(whole({}, "t1")), before);
}

TEST_F(SimClusterTest, IsTheSameAfterEveryDeathOfItsClient) {
  const auto undisturbed = [&] {
    const Report report = whole({});
    return std::pair{base::read_file(report.files.at("log")).value(), report.held.jobs[0]};
  }();
  fs::remove_all(root / "cluster");
  const auto snapshot = frozen();
  const std::string id = open()->submit(permit_for(snapshot, "t1", 16, 7200)).value();
  EXPECT_EQ(open()->find("lease-t1"), id);
  // The answer was lost: the same launch is asked for again.
  EXPECT_EQ(open()->submit(permit_for(snapshot, "t1", 16, 7200)).value(), id);
  Report report;
  for (int i = 0; i < 100 && report.life != Life::ended; ++i) {
    EXPECT_TRUE(open()->wait(id, Seconds(1e6)).ok());
    report = open()->poll(id).value();
  }
  EXPECT_EQ(base::read_file(report.files.at("log")).value(), undisturbed.first);
  EXPECT_EQ(report.held.jobs[0], undisturbed.second);
  const std::string state = base::read_file(root / "cluster" / "cluster.json").value();
  EXPECT_EQ(state.find("sim-00002"), std::string::npos);
}

TEST_F(SimClusterTest, ShowsTheConfigurationBeforeTheFirstStepAndStopsWhenCancelled) {
  const auto snapshot = frozen();
  auto cluster = open();
  const std::string id = cluster->submit(permit_for(snapshot, "t1", 16, 7200)).value();
  Report report = cluster->poll(id).value();
  while (!report.files.contains("values")) {
    ASSERT_TRUE(cluster->wait(id, Seconds(1e6)).ok());
    report = cluster->poll(id).value();
  }
  EXPECT_EQ(report.life, Life::running);
  EXPECT_FALSE(report.files.contains("signals"));
  ASSERT_TRUE(cluster->cancel(id).ok());
  report = cluster->poll(id).value();
  EXPECT_EQ(report.life, Life::ended);
  EXPECT_EQ(report.cause, "cancelled");
  EXPECT_EQ(report.held.jobs[0].end, report.now);
}

TEST_F(SimClusterTest, RefusesALayoutAsTheFrameworkWouldInItsFirstMinutes) {
  const Report report = whole({{"model.tensor_model_parallel_size", 3}});
  EXPECT_EQ(report.outcome, "failed");
  EXPECT_NE(base::read_file(report.files.at("log"))->find("AssertionError: world size"),
            std::string::npos);
}

TEST_F(SimClusterTest, RunsOutOfMemoryOnEveryNodeSetOrOnNone) {
  const Settings big{{"train.micro_batch_size", 8}};
  for (const char* trial : {"t1", "t2", "t3"}) {
    const Report report = whole(big, trial);
    EXPECT_EQ(report.outcome, "out_of_memory");
    EXPECT_NE(base::read_file(report.files.at("log"))->find("CUDA out of memory"),
              std::string::npos);
  }
}

TEST_F(SimClusterTest, KillsAHangAtItsTimeLimitFromTheAllocation) {
  spec.hang = 1;
  const Report report = whole({}, "t1", 1800);
  EXPECT_EQ(report.outcome, "timeout");
  EXPECT_NEAR(report.held.jobs[0].end->value() - report.held.holds[0].start.value(), 1800, 1e-3);
}

TEST_F(SimClusterTest, TellsAPreemptionAndANodeFailureFromAFailure) {
  spec.preemption = 1;
  EXPECT_EQ(whole({}, "t1").outcome, "preempted");
  spec.preemption = 0;
  spec.node_failure = 1;
  const Report report = whole({}, "t2");
  EXPECT_EQ(report.outcome, "node_failure");
  EXPECT_NE(report.cause.find(" failed its health check"), std::string::npos);
}

TEST_F(SimClusterTest, ChargesNodesThatComeLaterFromTheirOwnStart) {
  spec.stagger_s = 300;
  const Report report = whole({});
  ASSERT_EQ(report.held.holds.size(), 2U);
  EXPECT_GT(report.held.holds[1].start, report.held.holds[0].start);
  EXPECT_EQ(report.held.jobs[0].start, report.held.holds[1].start);
}

TEST_F(SimClusterTest, KeepsARunWaitingWhileItsNodesAreHeld) {
  spec.nodes = 2;
  const auto snapshot = frozen();
  auto cluster = open();
  const std::string first = cluster->submit(permit_for(snapshot, "t1", 16, 7200)).value();
  run_out(*cluster, first);
  const std::string second = cluster->submit(permit_for(snapshot, "t2", 16, 7200)).value();
  ASSERT_TRUE(cluster->wait(second, Seconds(3600)).ok());
  EXPECT_EQ(cluster->poll(second)->life, Life::queued);
  ASSERT_TRUE(cluster->release(first).ok());
  EXPECT_EQ(run_out(*cluster, second).outcome, "done");
}

TEST_F(SimClusterTest, RefusesWhatIsNotInTheStoreAndMoreGpusThanItHas) {
  const auto snapshot = frozen();
  auto cluster = open();
  EXPECT_FALSE(cluster->submit(permit_for(snapshot, "t1", 128, 7200)).ok());
  fs::remove_all(root / "snapshots");
  EXPECT_FALSE(cluster->submit(permit_for(snapshot, "t2", 16, 7200)).ok());
  EXPECT_FALSE(cluster->poll("sim-00009").ok());
}

TEST(OpenCluster, ReadsTheCampaignFilesObjectStrictly) {
  const auto opened = [](const std::string& text) {
    const auto json = base::parse_json(text, "cluster").value();
    const auto made = open_cluster({base::JsonView(json, "cluster"), "b200_sxm", 64,
                                    fs::path(::testing::TempDir()) / "open_cluster", "nowhere"});
    return made.ok() ? std::to_string(made.value()->nodes().size()) : made.error().text;
  };
  EXPECT_EQ(opened(R"({"kind": "sim", "seed": 7})"), "40");
  EXPECT_NE(opened(R"({"kind": "slurmy"})").find("unknown cluster \"slurmy\""), std::string::npos);
  EXPECT_NE(opened(R"({"kind": "sim", "sead": 7})").find("seed"), std::string::npos);
  EXPECT_NE(opened(R"({"kind": "sim", "gpu": "h101"})").find("cluster.gpu"), std::string::npos);
  EXPECT_NE(opened(R"({"kind": "sim", "errors": [{"error": "missing_some"}]})").find("missing_sum"),
            std::string::npos);
}

}  // namespace
}  // namespace setpoint::cluster
