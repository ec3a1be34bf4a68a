// SPDX-License-Identifier: Apache-2.0
// The state is a fold, and what it does not allow is not written.
#include "ledger/state.h"

#include <gtest/gtest.h>

#include "support/campaign_records.h"
#include "support/memory_disk.h"

namespace setpoint::ledger {
namespace {

class State : public ::testing::Test {
 protected:
  State() : ledger(Ledger::open(disk, "campaign", test::counting_clock()).value()) {}
  // The campaign up to and without the first record that `stop` is true of.
  template <class Stop>
  void until(Stop stop) {
    for (const Draft& draft : test::whole_campaign()) {
      if (stop(draft)) return;
      const auto done = ledger.append(draft);
      ASSERT_TRUE(done.ok()) << done.error().text;
    }
  }
  void until_trial(const std::string& kind, const std::string& trial) {
    until([&](const Draft& d) { return d.kind == kind && d.fields.value("trial", "") == trial; });
  }
  std::string refused(const std::string& kind, base::Json fields) {
    const auto done = ledger.append({kind, std::move(fields)});
    return done.ok() ? "" : done.error().text;
  }
  bool refused_for(const std::string& kind, base::Json fields, const std::string& why) {
    const std::string text = refused(kind, std::move(fields));
    EXPECT_NE(text.find(why), std::string::npos) << text;
    return text.find(why) != std::string::npos;
  }
  base::Json draft_of(const std::string& kind, const std::string& trial) {
    for (const Draft& draft : test::whole_campaign()) {
      if (draft.kind == kind && draft.fields.value("trial", "") == trial) return draft.fields;
    }
    return {};
  }
  const CampaignState& state() { return ledger.state(); }

  test::MemoryDisk disk;
  Ledger ledger;
};

TEST_F(State, AWholeCampaignFoldsToItsEnd) {
  until([](const Draft&) { return false; });
  EXPECT_EQ(state().phase(), Phase::reported);
  EXPECT_EQ(state().trials().size(), 8u);
  EXPECT_EQ(state().baseline().size(), 5u);
  EXPECT_DOUBLE_EQ(state().noise()->band, 0.03);
  EXPECT_EQ(state().incumbent()->trial, "t1");
  EXPECT_DOUBLE_EQ(state().incumbent()->score, 1055);
  // By hand: 5 x 8 GPUs x 0.5 h; 2 x 8 x 1700 s and 8 x 300 s.
  EXPECT_DOUBLE_EQ(state().account(judge::Purse::baseline).spent.value(), 20);
  EXPECT_NEAR(state().account(judge::Purse::campaign).spent.value(), 8 * 3700 / 3600.0, 1e-9);
  EXPECT_DOUBLE_EQ(state().account(judge::Purse::campaign).reserved.value(), 0);
  EXPECT_NEAR(state().spent_by_category().at("confirm").value(), 8 * 1700 / 3600.0, 1e-9);
  EXPECT_EQ(state().trial("t1")->stage(), Stage::scored);
  EXPECT_EQ(state().trial("t3")->outcome, "out_of_memory");
  EXPECT_EQ(state().proposal("p2")->effective_hash, test::digest("too big"));
  EXPECT_EQ(state().count("assumption"), 1u);
  EXPECT_TRUE(state().open_trials().empty());
}

TEST_F(State, ReadingTheLedgerAgainGivesTheSame) {
  until_trial("release", "");  // up to the first release: a trial is open
  const CampaignState again =
      fold(read_chain(disk.files["campaign/ledger.jsonl"].bytes).records).value();
  ASSERT_EQ(again.open_trials().size(), 1u);
  EXPECT_EQ(again.open_trials()[0]->lease, "lease-b1");
  EXPECT_EQ(again.open_trials()[0]->stage(), Stage::ended);
  EXPECT_DOUBLE_EQ(again.account(judge::Purse::baseline).reserved.value(), 16);
  EXPECT_DOUBLE_EQ(again.account(judge::Purse::baseline, "b1").reserved.value(), 0);
  EXPECT_EQ(again.allocations(), state().allocations());
}

TEST_F(State, AReserveIsHeldFromTheIntentToTheCharge) {
  const auto reserved = [&] { return state().account(judge::Purse::campaign).reserved.value(); };
  until_trial("intent", "t1");
  EXPECT_DOUBLE_EQ(reserved(), 0);
  ASSERT_EQ(refused("intent", draft_of("intent", "t1")), "");
  EXPECT_DOUBLE_EQ(reserved(), 8);
  for (const char* kind : {"allocation", "run"}) {
    ASSERT_EQ(refused(kind, draft_of(kind, "t1")), "");
    EXPECT_DOUBLE_EQ(reserved(), 8);
  }
  EXPECT_TRUE(refused_for("charge", draft_of("charge", "t1"), "GPUs are still held"));
  ASSERT_EQ(refused("release", {{"allocation", "job-t1"},
                                {"nodes", base::Json::array({{{"node", "nt1"}, {"end_s", 11700}}})},
                                {"how", "released"},
                                {"cluster_now_s", 11700}}),
            "");
  EXPECT_DOUBLE_EQ(reserved(), 8);
  ASSERT_EQ(refused("charge", draft_of("charge", "t1")), "");
  EXPECT_DOUBLE_EQ(reserved(), 0);
  EXPECT_TRUE(refused_for("charge", draft_of("charge", "t1"), "charged already"));
}

TEST_F(State, NothingLaunchesThatTheRecordsDoNotAllow) {
  until_trial("intent", "t1");
  base::Json intent = draft_of("intent", "t1");
  const auto with = [&](const char* key, base::Json value) {
    base::Json changed = intent;
    changed[key] = std::move(value);
    return changed;
  };
  EXPECT_TRUE(refused_for("intent", with("trial", "b1"), "the trial is there already"));
  EXPECT_TRUE(refused_for("intent", with("lease", "lease-b1"), "another trial's"));
  EXPECT_TRUE(refused_for("intent", with("proposal", "p9"), "not judged"));
  EXPECT_TRUE(refused_for("intent", with("effective_hash", test::digest("x")), "not judged"));
  EXPECT_TRUE(refused_for("intent", with("reserve_gpu_hours", 1), "GPUs times time limit"));
  EXPECT_TRUE(refused_for("intent", with("purpose", "baseline"), "may start in phase searching"));
  base::Json without = intent;
  without.erase("proposal");
  EXPECT_TRUE(refused_for("intent", without, "needs its proposal"));
  ASSERT_EQ(refused("intent", intent), "");
  base::Json second = draft_of("intent", "t2");
  EXPECT_TRUE(refused_for("intent", second, "another trial is running"));
}

TEST_F(State, ARejectedProposalHasNoIntent) {
  until_trial("intent", "t1");
  test::Records r;
  r.propose("p7", "dropout");
  r.all.back().fields["verdict"] = "reject";
  r.intent("t7", "trial", "p7", "dropout", 3600);
  for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(refused(r.all[i].kind, r.all[i].fields), "");
  EXPECT_TRUE(refused_for("intent", r.all[3].fields, "did not pass the gate"));
}

TEST_F(State, FiguresThatContradictEachOtherAreRefused) {
  until_trial("charge", "t1");
  base::Json charge = draft_of("charge", "t1");
  const auto with = [](base::Json fields, const char* key, base::Json value) {
    fields[key] = std::move(value);
    return fields;
  };
  EXPECT_TRUE(refused_for("charge", with(charge, "total_gpu_hours", 3), "does not add up"));
  EXPECT_TRUE(refused_for("charge", with(charge, "purse", "baseline"), "purse and category"));
  EXPECT_TRUE(refused_for("charge", with(charge, "category", "check"), "purse and category"));
  EXPECT_TRUE(refused_for("charge", with(charge, "overrun", true), "\"overrun\""));
  EXPECT_TRUE(refused_for("charge", with(charge, "corrects", 3), "no charge to correct"));
  EXPECT_TRUE(refused_for("charge", with(charge, "allocation", "job-b1"), "not the trial's"));
  ASSERT_EQ(refused("charge", charge), "");
  EXPECT_TRUE(refused_for("score", draft_of("score", "t1"), "second step"));
  ASSERT_EQ(refused("gate2", draft_of("gate2", "t1")), "");
  EXPECT_TRUE(refused_for("score", with(draft_of("score", "t1"), "beats", false), "\"beats\""));
  ASSERT_EQ(refused("score", draft_of("score", "t1")), "");
  EXPECT_TRUE(refused_for("promotion", draft_of("promotion", "t1"), "two scored runs"));
}

TEST_F(State, ACorrectionIsANewRecordThatNamesTheOldOne) {
  until([](const Draft& d) { return d.fields.value("to", "") == "finishing"; });
  const std::int64_t old = state().trial("t3")->charge_seq;
  const double spent = state().account(judge::Purse::campaign).spent.value();
  base::Json charge = draft_of("charge", "t3");
  const double before = charge["gpu_hours"].get<double>();
  charge["gpu_hours"] = before + 1;
  charge["total_gpu_hours"] = spent + 1;
  charge["corrects"] = old - 1;
  EXPECT_TRUE(refused_for("charge", charge, "another record"));
  charge["corrects"] = old;
  ASSERT_EQ(refused("charge", charge), "");
  EXPECT_DOUBLE_EQ(state().account(judge::Purse::campaign).spent.value(), spent + 1);
  EXPECT_DOUBLE_EQ(state().trial("t3")->charged->value(), before + 1);
}

TEST_F(State, AnOverrunHoldsUntilAPersonResumes) {
  until_trial("allocation", "t1");
  test::Records r;
  r.spent["campaign"] = 0;
  r.launch("t1", "trial", "timeout", 3700);  // 100 s beyond its limit
  r.all.back().fields["overrun"] = true;
  for (const Draft& draft : r.all) ASSERT_EQ(refused(draft.kind, draft.fields), "");
  EXPECT_TRUE(state().account(judge::Purse::campaign).overrun);
  ASSERT_EQ(refused("phase", {{"to", "paused"}, {"reason", "overrun"}}), "");
  EXPECT_TRUE(state().account(judge::Purse::campaign).overrun);
  ASSERT_TRUE(
      ledger.append({"phase", {{"to", "searching"}, {"reason", "seen"}}, Actor::person}).ok());
  EXPECT_FALSE(state().account(judge::Purse::campaign).overrun);
}

TEST_F(State, PhasesFollowTheStateMachine) {
  until([](const Draft& d) { return d.kind == "noise"; });
  const auto phase = [](const char* to) { return base::Json{{"to", to}, {"reason", ""}}; };
  EXPECT_TRUE(refused_for("phase", phase("ready"), "needs the noise band"));
  EXPECT_TRUE(refused_for("phase", phase("searching"), "searching does not follow baseline"));
  ASSERT_EQ(refused("phase", phase("paused")), "");
  EXPECT_TRUE(refused_for("phase", phase("paused"), "does not follow"));
  EXPECT_TRUE(refused_for("phase", phase("ready"), "does not follow paused"));
  ASSERT_EQ(refused("phase", phase("baseline")), "");
  ASSERT_EQ(refused("stop", {{"reason", "3 of 8 failed"}, {"evidence", base::Json::array()}}), "");
  EXPECT_EQ(state().phase(), Phase::stopped);
  EXPECT_EQ(state().phase_reason(), "3 of 8 failed");
  EXPECT_TRUE(refused_for("phase", phase("baseline"), "does not follow stopped"));
  EXPECT_EQ(refused("note", {{"text", "may still be said"}}), "");
}

TEST_F(State, SharedPartialAndUnreleasedAllocationsAreKeptAsTheClusterToldThem) {
  until_trial("allocation", "t1");
  const auto node = [](const char* name, double at) {
    return base::Json{{"node", name}, {"gpus", 4}, {"start_s", at}};
  };
  base::Json allocation{{"allocation", "job"},
                        {"trial", "t1"},
                        {"nodes", base::Json::array({node("n1", 100)})},
                        {"cluster_now_s", 100}};
  ASSERT_EQ(refused("allocation", allocation), "");
  allocation["nodes"] = base::Json::array({node("n1", 100), node("n2", 160)});
  ASSERT_EQ(refused("allocation", allocation), "");  // told twice, and one node more
  const judge::Allocation& held = state().allocations().at("job");
  EXPECT_EQ(held.holds.size(), 2u);
  EXPECT_EQ(held.jobs.size(), 1u);
  base::Json release{{"allocation", "job"},
                     {"how", "released"},
                     {"cluster_now_s", 400},
                     {"nodes", base::Json::array({{{"node", "n1"}, {"end_s", 400}}})}};
  release["how"] = "node_failure";
  EXPECT_TRUE(refused_for("release", release, "health record"));
  release["how"] = "released";
  ASSERT_EQ(refused("release", release), "");
  EXPECT_TRUE(refused_for("release", release, "the node is not held"));
  EXPECT_FALSE(state().trial("t1")->released);
  ASSERT_EQ(refused("release", {{"allocation", "job"},
                                {"how", "observed_free"},
                                {"nodes", base::Json::array()},
                                {"cluster_now_s", 760}}),
            "");
  EXPECT_TRUE(state().trial("t1")->released);
  // By hand: 4 GPUs x 300 s + 4 GPUs x 600 s = 3,600 GPU-seconds.
  EXPECT_EQ(state().allocations().at("job").free_at, Seconds(760));
}

}  // namespace
}  // namespace setpoint::ledger
