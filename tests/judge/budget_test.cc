// SPDX-License-Identifier: Apache-2.0
// GPU-hours by hand: 8 GPUs for an hour are 8.
#include "setpoint/budget.h"

#include <gtest/gtest.h>

#include <cmath>

namespace setpoint::judge {
namespace {

constexpr Seconds kHour{3600};

Allocation one_node(Seconds start, std::optional<Seconds> end) {
  return {"a1", {{"n1", 8, start, end}}, {{"t1", {}, {}}}, {}, Seconds(0), {}};
}
double hours(const Allocation& allocation, Seconds until = Seconds(1e6)) {
  return charge_of(allocation, until).total.value();
}

// Time in the queue lies before the allocation, start-up, compiling and loading after it; what the
// processes did in it, or that they died early, does not matter.
TEST(Charge, CountsFromAllocationToReleaseWhateverRanInIt) {
  Allocation allocation = one_node(Seconds(10000), Seconds(10000) + kHour);
  EXPECT_DOUBLE_EQ(hours(allocation), 8);
  allocation.seen_start = Seconds(2000);  // asked for two hours before
  EXPECT_DOUBLE_EQ(hours(allocation), 8);
  allocation.jobs[0] = {"t1", Seconds(10600), Seconds(11000)};  // died after 400 s
  EXPECT_DOUBLE_EQ(hours(allocation), 8);
  EXPECT_TRUE(charge_of(allocation, kHour).notes.empty());
}

TEST(Charge, CountsEachNodeOfAPartialAllocationFromItsOwnStart) {
  const Allocation allocation{"a1",
                              {{"n1", 8, Seconds(0), kHour * 2},
                               {"n2", 8, kHour, kHour * 2},
                               {"n3", 4, kHour * 1.5, kHour * 1.75}},
                              {{"t1", {}, {}}},
                              {},
                              Seconds(0),
                              {}};
  EXPECT_DOUBLE_EQ(hours(allocation), 16 + 8 + 1);
}

TEST(Charge, JobsThatShareAnAllocationPayItOnce) {
  Allocation allocation = one_node(Seconds(0), kHour);
  allocation.jobs = {{"t1", Seconds(0), Seconds(600)}, {"t2", Seconds(600), Seconds(2400)}};
  const Charge charge = charge_of(allocation, kHour);
  EXPECT_DOUBLE_EQ(charge.total.value(), 8);
  ASSERT_EQ(charge.shares.size(), 2u);
  EXPECT_DOUBLE_EQ(charge.shares[0].cost.value(), 2);  // 600 s of 2400 s
  EXPECT_DOUBLE_EQ(charge.shares[1].cost.value(), 6);
  allocation.jobs = {{"t1", {}, {}}, {"t2", {}, {}}, {"t3", {}, {}}, {"t4", {}, {}}};
  EXPECT_DOUBLE_EQ(charge_of(allocation, kHour).shares[3].cost.value(), 2);
}

TEST(Charge, AnEventThatIsReportedTwiceCountsOnce) {
  Allocation allocation = one_node(Seconds(0), kHour);
  allocation.holds.push_back({"n1", 8, kHour * 0.5, kHour});
  EXPECT_DOUBLE_EQ(hours(allocation), 8);
  allocation.holds.push_back({"n1", 8, kHour * 2, kHour * 3});  // put back after a pre-emption
  EXPECT_DOUBLE_EQ(hours(allocation), 16);
}

TEST(Charge, AMissingReleaseIsChargedUntilTheGpusWereSeenFree) {
  Allocation allocation = one_node(Seconds(0), {});
  const Charge open = charge_of(allocation, kHour * 3);
  EXPECT_TRUE(open.open);
  EXPECT_DOUBLE_EQ(open.total.value(), 24);  // so far
  allocation.free_at = kHour * 2;
  const Charge closed = charge_of(allocation, kHour * 3);
  EXPECT_FALSE(closed.open);
  EXPECT_DOUBLE_EQ(closed.total.value(), 16);
  ASSERT_EQ(closed.notes.size(), 1u);
  EXPECT_NE(closed.notes[0].find("no release time"), std::string::npos);
  // One node has its release, the other not.
  allocation.holds.push_back({"n2", 8, Seconds(0), kHour});
  EXPECT_DOUBLE_EQ(hours(allocation), 16 + 8);
}

TEST(Charge, AClockThatRanBackwardsIsReplacedByTheJudgesTimes) {
  Allocation allocation = one_node(Seconds(7200), Seconds(3600));
  allocation.seen_start = Seconds(100);
  allocation.seen_end = Seconds(100) + kHour;
  const Charge charge = charge_of(allocation, Seconds(0));
  EXPECT_DOUBLE_EQ(charge.total.value(), 8);
  EXPECT_EQ(charge.notes.size(), 1u);
}

TEST(Charge, NothingHeldCostsNothing) {
  EXPECT_DOUBLE_EQ(hours({}), 0);
  EXPECT_DOUBLE_EQ(hours(one_node(kHour, kHour)), 0);
}

TEST(Clock, ASkewOfMoreThanFiveSecondsIsNoted) {
  EXPECT_FALSE(clock_skew(Seconds(105), Seconds(100)));
  EXPECT_FALSE(clock_skew(Seconds(95), Seconds(100)));
  EXPECT_TRUE(clock_skew(Seconds(105.1), Seconds(100)));
  EXPECT_NE(clock_skew(Seconds(94), Seconds(100))->find("-6.0 s"), std::string::npos);
}

TEST(Limit, IsTheContractsOrTwiceTheBaselines) {
  EXPECT_EQ(time_limit(Seconds(7200), {}), Seconds(7200));
  EXPECT_EQ(time_limit(Seconds(7200), Seconds(1800)), Seconds(3600));
  EXPECT_EQ(time_limit(Seconds(7200), Seconds(4000)), Seconds(7200));
  EXPECT_EQ(time_limit(Seconds(7200), Seconds(1800), 1.5), Seconds(2700));
}

TEST(Budget, ReservesGpusTimesLimitAndRefusesWhatItCannotPay) {
  // 30 baseline trials of 8 GPUs for half an hour: 120 GPU-hours.
  Account account{GpuHours(120), GpuHours(100), GpuHours(12), false};
  const BudgetDecision exactly = decide_budget(account, 8, kHour);
  EXPECT_TRUE(exactly.admitted);
  EXPECT_DOUBLE_EQ(exactly.reserve.value(), 8);
  account.spent += GpuHours(0.01);
  const BudgetDecision over = decide_budget(account, 8, kHour);
  EXPECT_FALSE(over.admitted);
  EXPECT_NE(over.reason.find("exceed the budget of 120.00"), std::string::npos) << over.reason;
  EXPECT_FALSE(decide_budget(account, 0, kHour).admitted);
  EXPECT_FALSE(decide_budget(account, 8, Seconds(0)).admitted);
  EXPECT_FALSE(decide_budget({GpuHours(NAN), {}, {}, false}, 8, kHour).admitted);
  EXPECT_FALSE(decide_budget({}, 8, kHour).admitted);
}

TEST(Budget, ThirtyRunsOfAThirtiethAreThirtyRuns) {
  Account account{GpuHours(30 * held(7, Seconds(1234.567)).value()), {}, {}, false};
  for (int run = 0; run < 30; ++run) {
    const BudgetDecision decision = decide_budget(account, 7, Seconds(1234.567));
    ASSERT_TRUE(decision.admitted) << run << ": " << decision.reason;
    account.spent += decision.reserve;
  }
  EXPECT_FALSE(decide_budget(account, 7, Seconds(1234.567)).admitted);
}

TEST(Budget, AnOverrunStopsLaunches) {
  const Account account{GpuHours(1000), GpuHours(1), {}, true};
  const BudgetDecision decision = decide_budget(account, 8, kHour);
  EXPECT_FALSE(decision.admitted);
  EXPECT_NE(decision.reason.find("more than its reserve"), std::string::npos);
}

}  // namespace
}  // namespace setpoint::judge
