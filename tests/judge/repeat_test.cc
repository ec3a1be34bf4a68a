// SPDX-License-Identifier: Apache-2.0
#include "judge/repeat.h"

#include <gtest/gtest.h>

#include "judge/audit.h"
#include "support/campaign_records.h"
#include "support/memory_disk.h"

namespace setpoint::judge {
namespace {

class Repeat : public ::testing::Test {
 protected:
  Repeat() {
    auto before = test::whole_campaign();
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].kind == "phase" && before[i].fields["to"] == "searching") before.resize(i + 1);
    }
    r.all = before;
  }
  // Runs the recipe once more as trial `id` with this outcome.
  void ran(const std::string& id, const std::string& recipe, const std::string& outcome) {
    r.propose("p-" + id, recipe);
    r.intent(id, "trial", "p-" + id, recipe, 3600);
    r.launch(id, "trial", outcome, 600);
  }
  std::string refused(const std::string& recipe) {
    test::MemoryDisk disk;
    auto ledger = ledger::Ledger::open(disk, "campaign", test::counting_clock()).value();
    const auto done = test::write_all(ledger, r.all);
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().text);
    EXPECT_TRUE(audit(ledger.state()).empty());
    return repeat_refused(ledger.state(), test::digest(recipe)).value_or("");
  }
  test::Records r;
};

TEST_F(Repeat, ARecipeThatFailedIsNotNew) {
  EXPECT_EQ(refused("tp1"), "");
  ran("t1", "tp1", "out_of_memory");
  EXPECT_EQ(refused("tp1"), "the same recipe failed as t1: out_of_memory");
  EXPECT_EQ(refused("tp1 and one thing more"), "");
}

TEST_F(Repeat, WhatTheClusterDidIsNoFailure) {
  ran("t1", "tp1", "preempted");
  EXPECT_EQ(refused("tp1"), "");
  ran("t2", "tp1", "preempted");
  EXPECT_EQ(refused("tp1"), "");
  ran("t3", "tp1", "node_failure");
  EXPECT_EQ(refused("tp1"), "");  // once
  ran("t4", "tp1", "node_failure");
  EXPECT_NE(refused("tp1").find("lost its node 2 times"), std::string::npos);
}

// The outcome is read from the run, which is the proposer's; the cluster must say the same.
TEST_F(Repeat, ARunThatOnlyClaimsToBePreemptedFailed) {
  ran("t1", "tp1", "preempted");
  for (test::Draft& draft : r.all) {
    if (draft.fields.value("allocation", "") == "job-t1" && draft.kind == "release") {
      draft.fields["how"] = "released";
    }
  }
  EXPECT_EQ(refused("tp1"), "the same recipe failed as t1: preempted");
}

TEST_F(Repeat, ARecipeThatWasScoredOrRejectedIsNotNew) {
  ran("t1", "slow", "done");
  r.gate2("t1");
  r.score("t1", 1010, 1030);
  EXPECT_NE(refused("slow").find("was scored as t1"), std::string::npos);
  ran("t2", "wrong", "done");
  r.gate2("t2", "fail");
  EXPECT_NE(refused("wrong").find("rejected after its run"), std::string::npos);
  r.propose("p3", "dropout");
  r.all.back().fields["verdict"] = "reject";
  EXPECT_NE(refused("dropout").find("rejected as p3"), std::string::npos);
}

TEST_F(Repeat, ARecipeThatIsRunningIsNotStartedAgain) {
  r.propose("p1", "tp1");
  r.intent("t1", "trial", "p1", "tp1", 3600);
  EXPECT_NE(refused("tp1").find("runs as t1"), std::string::npos);
}

TEST_F(Repeat, AnAuditFindsAChargeThatTheEventsDoNotGive) {
  ran("t1", "tp1", "failed");
  base::Json& charge = r.all.back().fields;
  charge["gpu_hours"] = charge["gpu_hours"].get<double>() - 1;
  charge["total_gpu_hours"] = charge["total_gpu_hours"].get<double>() - 1;
  test::MemoryDisk disk;
  auto ledger = ledger::Ledger::open(disk, "campaign", test::counting_clock()).value();
  ASSERT_TRUE(test::write_all(ledger, r.all).ok());
  const auto found = audit(ledger.state());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].what, "job-t1");
  EXPECT_NEAR((found[0].due - found[0].charged).value(), 1, 1e-9);
}

// A profile joins the trial's allocation after the trial has ended: 8 GPUs for an hour, of which
// the trial's processes ran 2,000 s and the profile's 1,000 s.
TEST_F(Repeat, TwoRunsThatShareAnAllocationPayItOnce) {
  const auto nodes = [](base::Json node) { return base::Json::array({std::move(node)}); };
  r.propose("p1", "tp1");
  r.intent("t1", "trial", "p1", "tp1", 3600);
  r.add("allocation", {{"allocation", "job"},
                       {"trial", "t1"},
                       {"nodes", nodes({{"node", "n1"}, {"gpus", 8}, {"start_s", 0}})},
                       {"cluster_now_s", 0}});
  r.add("run", {{"trial", "t1"}, {"outcome", "done"}, {"start_s", 100}, {"end_s", 2100}});
  r.intent("t2", "profile", "p1", "tp1", 3600);
  r.add("allocation", {{"allocation", "job"},
                       {"trial", "t2"},
                       {"nodes", base::Json::array()},
                       {"cluster_now_s", 2200}});
  r.add("run", {{"trial", "t2"}, {"outcome", "done"}, {"start_s", 2300}, {"end_s", 3300}});
  r.add("release", {{"allocation", "job"},
                    {"nodes", nodes({{"node", "n1"}, {"end_s", 3600}})},
                    {"how", "released"},
                    {"cluster_now_s", 3600}});
  test::MemoryDisk disk;
  auto ledger = ledger::Ledger::open(disk, "campaign", test::counting_clock()).value();
  ASSERT_TRUE(test::write_all(ledger, r.all).ok());
  const Charge due = charge_of(ledger.state().allocations().at("job"), Seconds(3600));
  EXPECT_DOUBLE_EQ(due.total.value(), 8);
  ASSERT_EQ(due.shares.size(), 2u);
  double total = 0;
  for (const Share& share : due.shares) {
    total += share.cost.value();
    const auto done = ledger.append({"charge",
                                     {{"trial", share.trial},
                                      {"allocation", "job"},
                                      {"gpu_hours", share.cost.value()},
                                      {"category", share.trial == "t1" ? "trial" : "profile"},
                                      {"purse", "campaign"},
                                      {"total_gpu_hours", total},
                                      {"overrun", false}}});
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  EXPECT_NEAR(ledger.state().spent_by_category().at("profile").value(), 8.0 / 3, 1e-12);
  EXPECT_TRUE(audit(ledger.state()).empty());
}

}  // namespace
}  // namespace setpoint::judge
