// SPDX-License-Identifier: Apache-2.0
// The db commands on a database made from a CSV file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace setpoint::cli_test {
namespace {

constexpr const char* kMeasured =
    "op,system,framework,version,kernel,gemm_dtype,n,k,m,latency_ms\n"
    "gemm,h200_sxm,vllm,0.24.0,cutlass,fp8,64,32,1,0.5\n"
    "gemm,h200_sxm,vllm,0.24.0,cutlass,fp8,64,32,2,nan\n"
    "gemm,h200_sxm,vllm,0.24.0,cutlass,fp8,64,32,4,0.25\n";

class Db : public testing::Test {
 protected:
  Db()
      : folder_(std::filesystem::temp_directory_path() /
                ("setpoint-db-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "mine.csv") << kMeasured;
  }
  ~Db() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  Ran db(const std::string& rest) const {
    return run("aiconf db " + rest + " --db " + path("p.db"));
  }
  Ran imported() const { return db("import " + path("mine.csv")); }

 private:
  std::filesystem::path folder_;
};

TEST_F(Db, ImportSaysWhatItTookAndNamesTheBadLine) {
  const Ran ran = imported();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("2 of 3 lines imported, 0 duplicates, 1 bad"), std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("line 3: latency_ms \"nan\" is not a finite number"), std::string::npos);
  const auto json = nlohmann::json::parse(db("import --json " + path("mine.csv")).out);
  EXPECT_EQ(json["imported"][0]["rejected"][0]["line"], 3);
}

TEST_F(Db, ImportOfAFileWithoutAGoodLineIsExitCode2) {
  std::ofstream(path("bad.csv")) << "op,system,framework,version,gemm_dtype,n,k,m,latency_ms\n"
                                    "gemm,h200_sxm,vllm,0.24.0,fp8,64,32,1,-1\n";
  const Ran ran = db("import " + path("bad.csv"));
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("line 2: latency_ms \"-1\" is negative"), std::string::npos) << ran.err;
  EXPECT_EQ(db("import " + path("none.csv")).code, 3);
  EXPECT_EQ(db("import " + path("none.whl")).code, 3);
}

TEST_F(Db, WhatShowPrintsAsCsvCanBeImportedAgain) {
  ASSERT_EQ(imported().code, 0);
  const Ran shown = db("show gemm --system h200_sxm --csv");
  EXPECT_EQ(shown.code, 0) << shown.err;
  std::ofstream(path("mine.csv")) << shown.out;
  const Ran again = imported();
  EXPECT_NE(again.out.find("2 of 2 lines imported"), std::string::npos) << again.out;
  EXPECT_EQ(db("show gemm --system h200_sxm --csv").out, shown.out);
}

TEST_F(Db, ShowFiltersRowsAndSaysWhenNoneMatches) {
  ASSERT_EQ(imported().code, 0);
  const auto json = nlohmann::json::parse(db("show gemm --system h200_sxm --where m=4 --json").out);
  EXPECT_EQ(json["matching"], 1);
  EXPECT_EQ(json["rows"][0].back(), "0.25");
  EXPECT_EQ(db("show gemm --system h200_sxm --where m=3").code, 1);
  EXPECT_EQ(db("show gemm --system h200_sxm --where m").code, 2);
  EXPECT_NE(db("show gemm --system h200_sxm --where gemm_type=fp8").err.find("gemm_dtype"),
            std::string::npos);
  EXPECT_NE(db("show gem --system h200_sxm").err.find("nearest known: gemm"), std::string::npos);
  EXPECT_NE(db("show gemm --system h20").err.find("h200_sxm"), std::string::npos);
}

TEST_F(Db, ListCountsTablesAndRows) {
  ASSERT_EQ(imported().code, 0);
  EXPECT_NE(db("list").out.find("1 table, 2 rows"), std::string::npos);
  const auto json = nlohmann::json::parse(db("list --system h200_sxm --json").out);
  EXPECT_EQ(json["tables"][0]["op"], "gemm");
  EXPECT_EQ(json["tables"][0]["snapshot"], "csv mine.csv");
  EXPECT_EQ(json["tables"][0]["rows_rejected"], 1);
}

TEST_F(Db, QueryAnswersOneOperatorWithItsSource) {
  ASSERT_EQ(imported().code, 0);
  const std::string on = " --system h200_sxm --framework vllm --version 0.24.0 --json";
  const Ran ran = db("query gemm quant=fp8 n=64 k=32 tokens=4" + on);
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["ms"], 0.25);
  EXPECT_EQ(json["source"], "measured");
  for (const auto& [words, says] : {std::pair{"gem n=64", "nearest known: gemm"},
                                    {"gemm n=64", "\"tokens\" is missing"},
                                    {"gemm n=0 k=1 quant=fp8 tokens=1", "n"},
                                    {"gemm n", "is not KEY=VALUE"},
                                    {"gemm n=64 k=32 quant=fp9 tokens=4", "nearest known: fp8"},
                                    {"gemm n=64 k=32 quant=fp8 tokens=nan", "tokens"},
                                    {"gemm n=64 k=32 quant=fp8 token=4", "tokens"}}) {
    const Ran wrong = db(std::string("query ") + words + on);
    EXPECT_EQ(wrong.code, 2) << words;
    EXPECT_NE(wrong.err.find(says), std::string::npos) << words << ": " << wrong.err;
  }
  EXPECT_EQ(db("query").code, 2);
}

TEST_F(Db, QueryAnswersEveryLineOfAFileInOrder) {
  ASSERT_EQ(imported().code, 0);
  std::ofstream(path("q.jsonl"))
      << R"({"id":"a","op":"gemm","quant":"fp8","n":64,"k":32,"tokens":1})"
      << "\n{broken\n"
      << R"({"id":"b","op":"gemm","quant":"fp8","n":64,"k":32,"tokens":4})"
      << "\n";
  const Ran ran = db("query --requests " + path("q.jsonl") +
                     " --system h200_sxm --framework vllm --version 0.24.0");
  EXPECT_EQ(ran.code, 0) << ran.err;
  ASSERT_EQ(lines(ran.out), 3u) << ran.out;
  std::istringstream text(ran.out);
  std::vector<nlohmann::json> answers;
  for (std::string line; std::getline(text, line);) answers.push_back(nlohmann::json::parse(line));
  EXPECT_EQ(answers[0]["id"], "a");
  EXPECT_EQ(answers[0]["ms"], 0.5);
  EXPECT_TRUE(answers[1].contains("error"));
  EXPECT_EQ(answers[2]["ms"], 0.25);
}

TEST_F(Db, VerifyTellsAWholeFileFromADamagedOne) {
  ASSERT_EQ(imported().code, 0);
  const Ran whole = db("verify");
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.out.find("the file is whole"), std::string::npos);
  const auto json = nlohmann::json::parse(db("verify --json").out);
  EXPECT_EQ(json["tables"][0]["falling_steps"], 1);
  std::filesystem::resize_file(path("p.db"), 5000);
  const Ran cut = db("verify");
  EXPECT_EQ(cut.code, 2);
  EXPECT_NE(cut.err.find("truncated"), std::string::npos) << cut.err;
}

}  // namespace
}  // namespace setpoint::cli_test
