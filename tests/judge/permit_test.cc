// SPDX-License-Identifier: Apache-2.0
// There is one way to a permit.
#include "judge/permit.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "support/campaign_records.h"
#include "support/memory_disk.h"

namespace setpoint::judge {
namespace {

// Nobody else makes, copies or fakes one; the same for the proof that an intent is on the disk.
static_assert(!std::is_default_constructible_v<Permit>);
static_assert(!std::is_constructible_v<Permit, Ruling, BudgetDecision, ledger::Synced>);
static_assert(!std::is_constructible_v<Permit, std::string, std::string, std::string, std::string>);
static_assert(!std::is_copy_constructible_v<Permit> && !std::is_copy_assignable_v<Permit>);
static_assert(!std::is_aggregate_v<Permit> && std::is_move_constructible_v<Permit>);
static_assert(!std::is_default_constructible_v<ledger::Synced>);
static_assert(!std::is_constructible_v<ledger::Synced, ledger::Record>);
template <class T>
concept Admits = requires(T record, Ruling ruling, BudgetDecision budget) {
  admit(ruling, budget, record);
};
static_assert(Admits<ledger::Synced> && !Admits<ledger::Record>);

class Admit : public ::testing::Test {
 protected:
  Admit() : ledger(ledger::Ledger::open(disk, "campaign", test::counting_clock()).value()) {
    test::Records r;
    r.add("contract", test::contract_fields());
    r.phase("baseline");
    r.intent("b1", "baseline", "", "baseline", 7200);
    const auto done = test::write_all(ledger, r.all);
    EXPECT_TRUE(done.ok());
    ruling = {Ruling::Verdict::unchanged, test::digest("baseline"),
              test::digest("snapshot of baseline"), "the baseline itself"};
    budget = decide_budget(ledger.state().account(Purse::baseline, "b1"), 8, Seconds(7200));
  }
  std::string refused() {
    const auto permit = admit(ruling, budget, ledger.synced(2).value());
    if (permit.ok()) return "";
    EXPECT_EQ(permit.error().code, ErrorCode::no);
    return permit.error().text;
  }
  bool refused_for(const std::string& why) { return refused().find(why) != std::string::npos; }

  test::MemoryDisk disk;
  ledger::Ledger ledger;
  Ruling ruling;
  BudgetDecision budget;
};

TEST_F(Admit, CarriesWhatWasJudgedAndAdmitted) {
  const auto permit = admit(ruling, budget, ledger.synced(2).value());
  ASSERT_TRUE(permit.ok()) << permit.error().text;
  EXPECT_EQ(permit->trial(), "b1");
  EXPECT_EQ(permit->lease(), "lease-b1");
  EXPECT_EQ(permit->snapshot(), test::digest("snapshot of baseline"));
  EXPECT_EQ(permit->gpus(), 8);
  EXPECT_EQ(permit->time_limit(), Seconds(7200));
  EXPECT_EQ(permit->campaign(), ledger.records()[0].campaign);
  EXPECT_EQ(permit->purpose(), Purpose::baseline);
}

TEST_F(Admit, RefusesARulingThatIsNoYes) {
  ruling.verdict = Ruling::Verdict::reject;
  ruling.reason = "hidden_dropout changes the training";
  EXPECT_TRUE(refused_for("the gate says reject: hidden_dropout changes the training"));
  ruling = {};
  EXPECT_TRUE(refused_for("the gate says reject"));  // what nobody filled in is no yes
}

TEST_F(Admit, RefusesWhatTheBudgetDoesNotCover) {
  budget = decide_budget({GpuHours(10), GpuHours(0), GpuHours(0), false}, 8, Seconds(7200));
  EXPECT_TRUE(refused_for("exceed the budget of 10.00"));
  budget = {};
  EXPECT_NE(refused(), "");
}

TEST_F(Admit, RefusesAnIntentThatSpeaksOfAnotherRun) {
  const Ruling judged = ruling;
  ruling.snapshot = test::digest("swapped between judging and launch");
  EXPECT_TRUE(refused_for("another snapshot"));
  ruling = judged;
  ruling.effective_hash = test::digest("other");
  EXPECT_TRUE(refused_for("another snapshot"));
  ruling = judged;
  budget = decide_budget(ledger.state().account(Purse::baseline, "b1"), 4, Seconds(7200));
  EXPECT_TRUE(refused_for("more or less than the budget admitted"));
  budget = decide_budget(ledger.state().account(Purse::baseline, "b1"), 8, Seconds(7199));
  EXPECT_TRUE(refused_for("more or less"));
}

TEST_F(Admit, RefusesARecordThatIsNoIntent) {
  const auto permit = admit(ruling, budget, ledger.synced(0).value());
  ASSERT_FALSE(permit.ok());
  EXPECT_NE(permit.error().text.find("no intent"), std::string::npos);
}

TEST_F(Admit, ATrialOfTheUnchangedBaselineIsRefused) {
  test::MemoryDisk other;
  auto book = ledger::Ledger::open(other, "campaign", test::counting_clock()).value();
  auto drafts = test::whole_campaign();
  std::size_t count = 0;
  while (drafts[count].fields.value("trial", "") != "t1") ++count;
  drafts.resize(count + 1);
  ASSERT_TRUE(test::write_all(book, drafts).ok());
  const auto intent = book.synced(std::int64_t(count)).value();
  const Ruling same{Ruling::Verdict::unchanged, test::digest("tp1"),
                    test::digest("snapshot of tp1"), "nothing changed"};
  const auto yes = decide_budget(book.state().account(Purse::campaign, "t1"), 8, Seconds(3600));
  ASSERT_TRUE(yes.admitted) << yes.reason;
  const auto permit = admit(same, yes, intent);
  ASSERT_FALSE(permit.ok());
  EXPECT_NE(permit.error().text.find("unchanged"), std::string::npos);
  Ruling review = same;
  review.verdict = Ruling::Verdict::review;
  EXPECT_TRUE(admit(review, yes, intent).ok());
}

}  // namespace
}  // namespace setpoint::judge
