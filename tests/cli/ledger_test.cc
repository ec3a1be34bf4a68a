// SPDX-License-Identifier: Apache-2.0
// attune ledger and attune budget on a campaign's folder.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "support/campaign_records.h"

namespace setpoint::cli_test {
namespace {

class Books : public ::testing::Test {
 protected:
  Books() : folder(scratch() / "campaign") {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    base::RealDisk disk;
    auto ledger = ledger::Ledger::open(disk, folder, test::counting_clock()).value();
    const auto done = test::write_all(ledger, test::whole_campaign());
    EXPECT_TRUE(done.ok());
  }
  Ran attune(const std::string& words) const {
    return run("attune " + words + " " + folder.string());
  }
  void edit(const std::string& from, const std::string& to) const {
    std::string text = slurp(folder / "ledger.jsonl");
    text.replace(text.find(from), from.size(), to);
    std::ofstream(folder / "ledger.jsonl") << text;
  }
  std::filesystem::path folder;
};

TEST_F(Books, VerifySaysWholeAndFindsAnEdit) {
  const Ran whole = attune("ledger verify");
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.out.find("the ledger is whole"), std::string::npos) << whole.out;
  edit("\"tokens_per_s_per_gpu\":1060", "\"tokens_per_s_per_gpu\":1960");
  const Ran edited = attune("ledger verify --json");
  EXPECT_EQ(edited.code, 1);
  const auto json = nlohmann::json::parse(edited.out);
  EXPECT_FALSE(json["whole"]);
  EXPECT_NE(json["faults"][0].get<std::string>().find("changed after it was written"),
            std::string::npos);
}

TEST_F(Books, VerifyNotesATornLineAndFindsACutTail) {
  std::ofstream(folder / "ledger.jsonl", std::ios::app) << "{\"actor\":";
  const Ran torn = attune("ledger verify");
  EXPECT_EQ(torn.code, 0);
  EXPECT_NE(torn.out.find("torn last line of 9 bytes"), std::string::npos) << torn.out;
  const std::string text = slurp(folder / "ledger.jsonl");
  std::ofstream(folder / "ledger.jsonl")
      << text.substr(0, text.rfind("\n", text.size() - 12) + 1 - 1);
  const Ran cut = attune("ledger verify");
  EXPECT_EQ(cut.code, 1);
  EXPECT_NE(cut.out.find("records are lost"), std::string::npos) << cut.out;
}

TEST_F(Books, ShowFitsTheScreenAndTakesKinds) {
  const Ran all = attune("ledger show");
  EXPECT_EQ(all.code, 0) << all.err;
  std::istringstream in(all.out);
  for (std::string line; std::getline(in, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_EQ(lines(all.out), test::whole_campaign().size() + 2);  // head and units
  const Ran charges = attune("ledger show --kind charge --last 2 --json");
  const auto json = nlohmann::json::parse(charges.out);
  ASSERT_EQ(json["records"].size(), 2u);
  EXPECT_EQ(json["records"][1]["trial"], "t3");
  const Ran wrong = attune("ledger show --kind chrge");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("nearest known: charge"), std::string::npos) << wrong.err;
}

TEST_F(Books, ExportGivesARowForEachLaunch) {
  const Ran csv = attune("ledger export");
  EXPECT_EQ(csv.code, 0) << csv.err;
  EXPECT_EQ(lines(csv.out), 9u);
  EXPECT_TRUE(csv.out.starts_with("trial,purpose,proposal,stage,outcome,gate2,")) << csv.out;
  const auto json = nlohmann::json::parse(attune("ledger export --json").out);
  EXPECT_EQ(json["trials"][5]["tokens_per_s_per_gpu"], 1060);
  EXPECT_EQ(json["trials"][7]["outcome"], "out_of_memory");
}

// By hand: 8 GPUs x 3,700 s = 8.222 GPU-hours, of which 300 s on the run that failed.
TEST_F(Books, BudgetAddsUpByPurseAndCategory) {
  const Ran text = attune("budget");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("baseline"), std::string::npos);
  const auto json = nlohmann::json::parse(attune("budget --json").out);
  EXPECT_NEAR(json["purses"][0]["spent_gpu_hours"].get<double>(), 8.2222, 1e-4);
  EXPECT_NEAR(json["purses"][0]["left_gpu_hours"].get<double>(), 120 - 8.2222, 1e-4);
  EXPECT_DOUBLE_EQ(json["purses"][1]["spent_gpu_hours"], 20);
  ASSERT_EQ(json["categories"].size(), 3u);
  EXPECT_EQ(json["categories"][1]["category"], "trial");
  EXPECT_NEAR(json["categories"][1]["failed_gpu_hours"].get<double>(), 0.6667, 1e-4);
}

TEST_F(Books, WhatIsNoLedgerIsOneLine) {
  for (const char* command : {"ledger verify", "ledger show", "ledger export", "budget"}) {
    const Ran missing = run(std::string("attune ") + command + " /nowhere");
    EXPECT_EQ(missing.code, 3) << command;
    EXPECT_EQ(lines(missing.err), 1u) << missing.err;
  }
  std::ofstream(folder / "ledger.jsonl") << std::string(300, '[') << "\n\xff\xfe\n";
  const Ran deep = attune("ledger verify");
  EXPECT_EQ(deep.code, 1);
  EXPECT_NE(deep.out.find("nested deeper"), std::string::npos) << deep.out;
}

}  // namespace
}  // namespace setpoint::cli_test
