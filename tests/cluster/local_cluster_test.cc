// SPDX-License-Identifier: Apache-2.0
// Real processes: whole groups die at the limit, and a client that died finds its run again.
#include "cluster/local_cluster.h"

#include <unistd.h>

#include <cmath>
#include <csignal>

#include "base/file.h"
#include "base/process.h"
#include "log_steps.h"
#include "permits.h"
#include "recipe/read.h"

namespace setpoint::cluster {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class LocalClusterTest : public ::testing::Test {
 protected:
  LocalClusterTest() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root = fs::path(::testing::TempDir()) / (std::string("local_cluster_") + info->name());
    fs::remove_all(root);
    fs::create_directories(root / "snapshots");
  }
  ~LocalClusterTest() override { fs::remove_all(root); }

  recipe::Snapshot frozen(recipe::FinalValues values,
                          const std::map<std::string, std::string>& files = {}) {
    const auto recipe = recipe::parse_recipe(
        R"({"schema": "setpoint-recipe/1", "name": "n", "framework": {"name": "generic", "version": "1"},
            "settings": {}, "environment": {}})",
        "recipe");
    EXPECT_TRUE(recipe.ok()) << recipe.error().text;
    auto snapshot = recipe::Snapshot::freeze(recipe.value(), values, files);
    EXPECT_TRUE(snapshot.ok());
    EXPECT_TRUE(snapshot->store(root / "snapshots").ok());
    return std::move(snapshot).value();
  }
  recipe::Snapshot script(const std::string& text) {
    recipe::FinalValues values{"generic", "1", {}, {{"GREETING", "hello"}}, {}};
    values.parameters["command"] = Words{"/bin/sh", "script.sh"};
    return frozen(values, {{"script.sh", text}});
  }
  std::unique_ptr<LocalCluster> open() {
    return std::move(LocalCluster::open(root / "runs", root / "snapshots", 8)).value();
  }
  Report run_out(LocalCluster& cluster, const std::string& id) {
    for (int i = 0; i < 300; ++i) {
      const Report report = cluster.poll(id).value();
      if (report.life == Life::ended) return report;
      EXPECT_TRUE(cluster.wait(id, Seconds(0.1)).ok());
    }
    ADD_FAILURE() << "never ended";
    return {};
  }
  int group(const std::string& id) {
    return std::atoi(base::read_file(root / "runs" / id / "group").value().c_str());
  }
  // The group is killed just after its status is written.
  static bool dies(int group) {
    for (int i = 0; i < 200 && base::group_alive(group); ++i) ::usleep(10000);
    return !base::group_alive(group);
  }

  fs::path root;
};

TEST_F(LocalClusterTest, RunsAProcessWithTheSnapshotsFilesAndNothingElsesEnvironment) {
  ::setenv("SETPOINT_TEST_SECRET", "leak", 1);
  const auto snapshot = script("echo \"$GREETING ${SETPOINT_TEST_SECRET:-none}\"; exit 3");
  auto cluster = open();
  const std::string id = cluster->submit(permit_for(snapshot, "t1", 8, 60)).value();
  const Report report = run_out(*cluster, id);
  EXPECT_EQ(report.outcome, "failed");
  EXPECT_EQ(report.exit_code, 3);
  EXPECT_EQ(base::read_file(report.files.at("log")).value(), "hello none\n");
  ASSERT_EQ(report.held.holds.size(), 1U);
  EXPECT_EQ(report.held.holds[0].gpus, 8);
  EXPECT_GE(report.held.jobs[0].end->value(), report.held.jobs[0].start->value());
  ASSERT_TRUE(cluster->release(id).ok());
  EXPECT_EQ(cluster->poll(id)->life, Life::released);
}

TEST_F(LocalClusterTest, KillsTheWholeGroupAtTheLimitEvenWhenNobodyWatches) {
  const auto snapshot = script("sleep 300 & sleep 300 & wait");
  const std::string id = open()->submit(permit_for(snapshot, "t1", 1, 0.5)).value();
  ::usleep(900000);
  auto cluster = open();  // another client
  const Report report = run_out(*cluster, id);
  EXPECT_EQ(report.outcome, "timeout");
  EXPECT_NEAR(report.held.jobs[0].end->value() - report.held.jobs[0].start->value(), 0.5, 0.35);
  EXPECT_TRUE(dies(group(id)));
}

TEST_F(LocalClusterTest, CancelsAsAWhole) {
  const auto snapshot = script("sleep 300 & sleep 300");
  auto cluster = open();
  const std::string id = cluster->submit(permit_for(snapshot, "t1", 1, 60)).value();
  ASSERT_TRUE(cluster->cancel(id).ok());
  const Report report = cluster->poll(id).value();
  EXPECT_EQ(report.life, Life::ended);
  EXPECT_EQ(report.cause, "cancelled");
  EXPECT_TRUE(dies(group(id)));
}

TEST_F(LocalClusterTest, StartsALeaseOnceHoweverOftenItIsAskedFor) {
  const auto snapshot = script("echo once; sleep 0.2");
  const std::string id = open()->submit(permit_for(snapshot, "t1", 1, 60)).value();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(open()->submit(permit_for(snapshot, "t1", 1, 60)).value(), id);
  }
  auto cluster = open();
  EXPECT_EQ(cluster->find("lease-t1"), id);
  EXPECT_FALSE(cluster->find("lease-t2"));
  EXPECT_EQ(base::read_file(run_out(*cluster, id).files.at("log")).value(), "once\n");
}

TEST_F(LocalClusterTest, SaysThatARunIsLostWhenItsSupervisorIsGone) {
  const auto snapshot = script("sleep 300");
  auto cluster = open();
  const std::string id = cluster->submit(permit_for(snapshot, "t1", 1, 60)).value();
  while (cluster->poll(id)->life != Life::running) ::usleep(10000);
  base::kill_group(group(id));
  EXPECT_EQ(run_out(*cluster, id).outcome, "lost");
}

TEST_F(LocalClusterTest, RefusesARecipeWithoutACommandAndFilesOutsideTheRun) {
  const auto none = frozen({"generic", "1", {}, {}, {}});
  EXPECT_NE(open()->submit(permit_for(none, "t1", 1, 60)).error().text.find("settings.command"),
            std::string::npos);
  recipe::FinalValues values{"generic", "1", {}, {}, {}};
  values.parameters["command"] = Words{"true"};
  const auto outside = frozen(values, {{"../escape", "x"}});
  EXPECT_FALSE(open()->submit(permit_for(outside, "t2", 1, 60)).ok());
  EXPECT_FALSE(fs::exists(root / "runs" / "escape"));
}

TEST_F(LocalClusterTest, TrainsTheShippedTinyRecipe) {
  const fs::path source = fs::path(SETPOINT_SOURCE_DIR) / "recipes" / "train" / "local";
  const auto recipe =
      recipe::parse_recipe(base::read_file(source / "tiny-cpu.json").value(), "tiny-cpu.json");
  ASSERT_TRUE(recipe.ok()) << recipe.error().text;
  const recipe::FinalValues values{
      recipe->framework, recipe->version, recipe->settings, recipe->environment, {}};
  const auto snapshot =
      frozen(values, {{"train.py", base::read_file(source / "train.py").value()}});
  auto cluster = open();
  const std::string id = cluster->submit(permit_for(snapshot, "t1", 1, 120)).value();
  const Report report = run_out(*cluster, id);
  ASSERT_EQ(report.outcome, "done") << base::read_file(report.files.at("log")).value();
  const auto steps = log_steps(base::read_file(report.files.at("log")).value());
  ASSERT_EQ(steps.size(), 20U);
  EXPECT_NEAR(steps.front().loss, std::log(64), 1e-3);
  EXPECT_LT(steps.back().loss, steps.front().loss - 0.3);  // it learns
  const auto stated = recipe::read_run(report.files.at("values"));
  ASSERT_TRUE(stated.ok()) << stated.error().text;
  EXPECT_EQ(stated->values.parameters, values.parameters);
}

}  // namespace
}  // namespace setpoint::cluster
