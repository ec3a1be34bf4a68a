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

}  // namespace
}  // namespace setpoint::judge
