// SPDX-License-Identifier: Apache-2.0
// The writer: one at a time, nothing unknown, and whatever write fails the next opening finds a
// ledger that is whole.
#include "ledger/ledger.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "ledger/files.h"
#include "support/campaign_records.h"
#include "support/memory_disk.h"

namespace setpoint::ledger {
namespace {

const std::filesystem::path kFolder = "campaign";

std::string failure(const Result<Record>& result) { return result.ok() ? "" : result.error().text; }

TEST(Ledger, RefusesUnknownKindsAndFieldsAndWrongTypes) {
  test::MemoryDisk disk;
  auto ledger = Ledger::open(disk, kFolder, test::counting_clock()).value();
  EXPECT_NE(failure(ledger.append({"note", {{"text", "before the contract"}}})), "");
  base::Json lacking = test::contract_fields();
  lacking.erase("register_hash");
  EXPECT_NE(failure(ledger.append({"contract", lacking})).find("\"register_hash\" is missing"),
            std::string::npos);
  ASSERT_TRUE(ledger.append({"contract", test::contract_fields()}).ok());
  const std::string before = disk.files["campaign/ledger.jsonl"].bytes;
  const std::vector<std::pair<Draft, const char*>> cases{
      {{"nots", {{"text", ""}}}, "nearest known: note"},
      {{"note", {{"text", ""}, {"abuot", 1}}}, "nearest known: about"},
      {{"note", {{"text", 5}}}, "text: expected text"},
      {{"note", {{"text", ""}, {"about", -1}}}, "about: expected a whole number"},
      {{"note", {{"text", ""}, {"seq", 9}}}, "unknown key \"seq\""},
      {{"note", {{"text", "\xff"}}}, "not UTF-8"},
      {{"stop", {{"reason", ""}, {"evidence", {{"a", 1}}}}}, "evidence: expected a list"},
      {{"assumption", {{"question", "?"}}}, "\"default\" is missing"},
      {{"phase", {{"to", "trial"}, {"reason", ""}}}, "to: expected baseline or ready"},
      {{"contract", test::contract_fields()}, "one contract"},
  };
  for (const auto& [draft, expected] : cases) {
    const std::string text = failure(ledger.append(draft));
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  }
  EXPECT_EQ(disk.files["campaign/ledger.jsonl"].bytes, before);  // nothing reached the file
  EXPECT_TRUE(ledger.append({"note", {{"text", "still in order"}}}).ok());
}

// Dies at each writing call of a whole campaign, loses what was not synced (or all but a part of
// it), opens again, and goes on from the record it finds: in the end the same fold.
TEST(Ledger, SurvivesDeathAtEveryWrite) {
  const auto drafts = test::whole_campaign();
  test::MemoryDisk undisturbed;
  {
    auto ledger = Ledger::open(undisturbed, kFolder, test::counting_clock()).value();
    ASSERT_TRUE(test::write_all(ledger, drafts).ok());
  }
  const int writes = undisturbed.writes;
  ASSERT_GT(writes, int(drafts.size()));
  for (int death = 0; death < writes; ++death) {
    for (const std::size_t kept : {std::size_t{0}, std::size_t{137}, std::size_t{1} << 20}) {
      test::MemoryDisk disk;
      disk.die_after = death;
      std::size_t promised = 0;  // records that a Synced was given for
      if (auto ledger = Ledger::open(disk, kFolder, test::counting_clock())) {
        for (const Draft& draft : drafts) {
          const auto synced = ledger->append_synced(draft);
          if (!synced) break;
          promised = std::size_t(synced->record().seq) + 1;
        }
        EXPECT_FALSE(ledger->append({"note", {{"text", "after a failed write"}}}).ok());
      }
      disk.die_after.reset();
      disk.crash(kept);
      auto again = Ledger::open(disk, kFolder, test::counting_clock());
      ASSERT_TRUE(again.ok()) << death << ": " << again.error().text;
      ASSERT_GE(again->records().size(), promised) << death;
      std::size_t there = 0;
      for (const Record& record : again->records()) there += record.kind == "note" ? 0u : 1u;
      const std::vector<Draft> rest(drafts.begin() + std::ptrdiff_t(there), drafts.end());
      ASSERT_TRUE(test::write_all(*again, rest).ok()) << death;
      EXPECT_EQ(again->state().trials().size(), 8u);
      EXPECT_DOUBLE_EQ(again->state().account(judge::Purse::baseline).spent.value(), 20);
      EXPECT_FALSE(read_ledger(disk, kFolder)->stopped);
    }
  }
}

class OnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "setpoint_ledger_XXXXXX");
    folder = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
  base::RealDisk disk;
};

TEST_F(OnDisk, TheRealDiskKeepsAWholeCampaign) {
  {
    auto ledger = Ledger::open(disk, folder, test::counting_clock()).value();
    ASSERT_TRUE(test::write_all(ledger, test::whole_campaign()).ok());
  }
  const Chain chain = read_ledger(folder.string()).value();
  EXPECT_FALSE(chain.stopped);
  EXPECT_EQ(chain.records.size(), test::whole_campaign().size());
}

TEST_F(OnDisk, ASecondWriterIsRefusedUntilTheFirstIsGone) {
  auto first = std::make_unique<Ledger>(Ledger::open(disk, folder, test::counting_clock()).value());
  EXPECT_FALSE(Ledger::open(disk, folder, test::counting_clock()).ok());  // in this process
  const auto second_process = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto second = Ledger::open(disk, folder, test::counting_clock());
      const bool refused =
          !second && second.error().text.find("another process") != std::string::npos;
      ::_exit(second.ok() ? 0 : (refused ? 1 : 2));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(second_process(), 1);
  first.reset();
  EXPECT_EQ(second_process(), 0);
}

TEST_F(OnDisk, AWriterThatWasKilledLeavesNoLockAndAWholeLedger) {
  for (int round = 0; round < 20; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto ledger = Ledger::open(disk, folder, test::counting_clock());
      if (!ledger) ::_exit(2);
      if (ledger->records().empty()) {
        (void)ledger->append_synced({"contract", test::contract_fields()});
      }
      (void)!::write(pipe_ends[1], "x", 1);
      while (true) (void)ledger->append_synced({"note", {{"text", std::string(3000, 'n')}}});
    }
    char started = 0;
    ASSERT_EQ(::read(pipe_ends[0], &started, 1), 1);
    ::usleep(static_cast<useconds_t>(500 + 700 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    const auto again = Ledger::open(disk, folder, test::counting_clock());
    ASSERT_TRUE(again.ok()) << again.error().text;
    EXPECT_FALSE(read_ledger(folder.string())->stopped);
  }
}

}  // namespace
}  // namespace setpoint::ledger
