// SPDX-License-Identifier: Apache-2.0
// Cases from the field that need the imported tables.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "search/estimate.h"
#include "search/search.h"

namespace {

namespace fs = std::filesystem;
using namespace setpoint;
using namespace setpoint::search;

fs::path database() {
  if (const char* given = std::getenv("SETPOINT_DB")) return given;
  return SETPOINT_BINARY_DIR "/share/setpoint/perfdb.db";
}

class SearchCases : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(database())) {
      GTEST_SKIP() << "no imported database at " << database() << ": run scripts/test";
    }
  }
  static SearchRequest make_request(const std::string& model, std::int64_t gpus) {
    SearchRequest request;
    request.subject.model = model;
    request.subject.system = "h200_sxm";
    request.subject.database = database();
    request.frameworks = {"vllm"};
    request.target.gpus = gpus;
    return request;
  }
};

// Without its all-reduce table no layout with tp above 1 can be measured: they are dropped in the
// open, never silently.
TEST_F(SearchCases, AMissingTableIsNamedWithWhatItDropped) {
  const fs::path copy = fs::temp_directory_path() / "setpoint_without_allreduce.db";
  fs::copy_file(database(), copy, fs::copy_options::overwrite_existing);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(copy.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(db, "DELETE FROM source WHERE op = 'custom_allreduce' AND system = 'h200_sxm'",
                   nullptr, nullptr, nullptr),
      SQLITE_OK);
  EXPECT_GT(sqlite3_changes(db), 0);
  sqlite3_close(db);
  SearchRequest request = make_request("Qwen/Qwen3-32B-FP8", 8);
  request.subject.database = copy;
  request.subject.data = perfdb::DataMode::measured;
  const auto result = setpoint::search::search(request);
  fs::remove(copy);
  ASSERT_TRUE(result.ok()) << result.error().text;
  EXPECT_GT(result->rejected.at("missing_data"), 0);
  ASSERT_EQ(result->missing_data.size(), 1u);
  const std::string& text = result->missing_data[0];
  for (const char* part : {"custom_allreduce", "h200_sxm", "tp2", "tp4", "tp8"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  ASSERT_FALSE(result->why.empty());
  EXPECT_NE(result->why.back().find("incomplete"), std::string::npos) << result->why.back();
  // With the table there is nothing to complain about.
  request.subject.database = database();
  const auto whole = setpoint::search::search(request);
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole->missing_data.empty());
}

// gpt-oss-120b on 8 H200 by vLLM, 3000 tokens in and 300 out: aggregated is ranked first, and the
// report says by which pool a disaggregated deployment is held up.
TEST_F(SearchCases, AggregatedBeatsDisaggregatedAndTheReportSaysWhy) {
  SearchRequest request = make_request("openai/gpt-oss-120b", 8);
  request.subject.workload = {.isl = 3000, .osl = 300};
  const auto result = setpoint::search::search(request);
  ASSERT_TRUE(result.ok()) << result.error().text;
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->first, Mode::agg);
  EXPECT_TRUE(std::any_of(result->why.begin(), result->why.end(), [](const auto& text) {
    return text.find("pool sets its rate") != std::string::npos;
  }));
}

// One worker of tp8 against one prefill and one decode worker of tp4: the aggregated one yields
// more for few users, since each is handed over and the prefill pool idles, and for many, since
// they wait for the prefill pool; the estimate says so.
TEST_F(SearchCases, AggregatedTp8BeatsTwoWorkersOfTp4ForAnyNumberOfUsers) {
  Estimator estimator;
  for (int users : {1, 2, 4, 8, 16, 17, 32, 64}) {
    const std::string head = fmt::format(
        R"({{"model": "openai/gpt-oss-120b", "system": "h200_sxm", "framework": "vllm",
            "isl": 3000, "osl": 300, "gpus": 8, "concurrency": {}, )",
        users);
    const auto answer_of = [&](const std::string& rest) {
      auto request = parse_request(head + rest, "request");
      EXPECT_TRUE(request.ok());
      request->subject.database = database();
      const auto answer = estimator.answer(*request);
      EXPECT_TRUE(answer.ok() && answer->estimate);
      return *answer->estimate;
    };
    const Estimate together = answer_of(R"("tp": 8})");
    const Estimate apart =
        answer_of(R"("mode": "disagg", "prefill": {"tp": 4, "batch": 1}, "decode": {"tp": 4}})");
    EXPECT_GT(together.tokens_per_s_per_gpu(), apart.tokens_per_s_per_gpu()) << users;
    EXPECT_LT(together.performance.ttft, apart.performance.ttft) << users;
    const bool told = std::any_of(
        apart.warnings.begin(), apart.warnings.end(),
        [](const auto& text) { return text.find("the prefill pool is 9") != std::string::npos; });
    EXPECT_EQ(told, users == 64) << users;
  }
}

}  // namespace
