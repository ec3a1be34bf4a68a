// SPDX-License-Identifier: Apache-2.0
// Whole printed answers against recorded text, on made-up values.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/configs.h"
#include "report/estimate_text.h"
#include "report/json.h"
#include "report/recorded.h"
#include "report/sample.h"
#include "report/search_text.h"

namespace setpoint::report_test {
namespace {

using report::estimate_json;
using report::estimate_text;
using report::Screen;
using report::search_json;
using report::search_text;

constexpr Screen kWide{100, false, false}, kNarrow{80, false, false};

search::EstimateRequest estimate_request() {
  search::EstimateRequest q;
  q.subject = request().subject;
  q.framework = "vllm";
  return q;
}

search::SearchResult nothing_meets() {
  search::SearchResult r = result();
  r.best.reset();
  for (search::ModeResult& mode : r.modes) mode.configs.clear();
  r.why.clear();
  r.no_answer =
      search::NoAnswer{"tpot",       "No layout decodes faster than 12.1 ms a token at batch 1.",
                       Ms(210),      Ms(12.1),
                       std::nullopt, {agg(8, 1, 90, 82.6), disagg(4, 1, 60, 80)}};
  return r;
}

TEST(SearchText, IsAsRecordedAtEveryWidth) {
  expect_recorded("search_100", search_text(kWide, request(), {"isl", "osl"}, result()));
  expect_recorded("search_80", search_text(kNarrow, request(), {"isl", "osl"}, result()));
  expect_recorded("search_utf8", search_text({100, false, true}, request(), {}, result()));
}

TEST(SearchText, FitsTheScreenAndStaysAsciiWithoutUtf8) {
  for (const Screen& screen : {kWide, kNarrow}) {
    for (const search::SearchResult& r : {result(), nothing_meets()}) {
      const std::string out = search_text(screen, request(), {"isl"}, r);
      EXPECT_LE(widest_line(out), screen.columns);
      EXPECT_TRUE(is_ascii(out));
    }
  }
  EXPECT_LE(widest_line(search_text({80, false, true}, request(), {}, result())), 80);
}

TEST(SearchText, ColourAddsNothingButEscapes) {
  const std::string plain = search_text(kWide, request(), {}, result());
  std::string coloured = search_text({100, true, false}, request(), {}, result());
  EXPECT_NE(coloured, plain);
  for (std::size_t at = coloured.find('\033'); at != std::string::npos;
       at = coloured.find('\033')) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, plain);
}

TEST(SearchText, SaysWhatWasAssumed) {
  const std::string out = search_text(kWide, request(), {"isl", "osl"}, result());
  EXPECT_NE(out.find("(assumed: --isl and --osl not given)"), std::string::npos);
  EXPECT_EQ(search_text(kWide, request(), {}, result()).find("assumed"), std::string::npos);
}

TEST(SearchText, WithoutBoundsSaysThatNoneApply) {
  search::SearchRequest q = request();
  q.sla = {};
  EXPECT_NE(search_text(kWide, q, {}, result()).find("no latency bound given: none applied"),
            std::string::npos);
}

TEST(SearchText, AnIncompleteAnswerNamesTheMissingTables) {
  search::SearchResult r = result();
  r.missing_data = {"custom_allreduce h200_sxm vllm 0.24.0: 40 candidates"};
  const std::string out = search_text(kWide, request(), {}, r);
  EXPECT_NE(out.find("INCOMPLETE"), std::string::npos);
  EXPECT_NE(out.find("custom_allreduce"), std::string::npos);
}

TEST(SearchText, WhenNothingMeetsTheBoundsShowsTheLimitAndTheNearest) {
  expect_recorded("no_answer", search_text(kWide, request(), {}, nothing_meets()));
}

TEST(SearchText, OneOutputTokenHasNoTpotAndNoZeroColumns) {
  search::SearchRequest q = request();
  q.subject.workload.osl = 1;
  search::SearchResult r = result();
  for (search::ModeResult& mode : r.modes) {
    for (Estimate& e : mode.configs) e.performance.tpot = Ms(0);
    mode.frontier.clear();
  }
  const std::string out = search_text(kWide, q, {}, r);
  expect_recorded("one_output_token", out);
  EXPECT_NE(out.find("TPOT n/a"), std::string::npos);
  EXPECT_EQ(out.find(" 0.00"), std::string::npos);
}

TEST(SearchJson, HasThePromisedKeys) {
  const base::Json json = search_json(request(), {"isl"}, result());
  for (const char* key : {"inputs", "best", "agg", "disagg", "rejected", "stats"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["best"], (base::Json{{"mode", "disagg"}, {"rank", 1}}));
  EXPECT_EQ(json["inputs"]["assumed"], base::Json::array({"isl"}));
  EXPECT_EQ(json["inputs"]["frameworks"][0]["quant"]["gemm"], "fp8_block");
  EXPECT_EQ(json["stats"]["points"], 18234);
  EXPECT_EQ(json["rejected"]["tpot"], 1310);
  EXPECT_EQ(json["agg"]["configs"].size(), 2u);
  EXPECT_EQ(json["agg"]["frontier"].size(), 12u);
}

TEST(ConfigJson, HasThePromisedKeysAndEvidenceThatSumsToOne) {
  const base::Json config = report::config_json(disagg(4, 96, 823.1, 34.2));
  for (const char* key :
       {"mode", "framework", "framework_version", "system", "gpus_used", "replicas",
        "gpus_per_replica", "concurrency", "ttft_ms", "tpot_ms", "request_latency_ms",
        "tokens_per_s_per_gpu", "tokens_per_s_per_user", "requests_per_s", "evidence", "workers"}) {
    EXPECT_TRUE(config.contains(key)) << key;
  }
  for (const char* key : {"role", "count", "system", "tp", "pp", "dp", "moe_tp", "moe_ep", "cp",
                          "batch", "max_num_tokens", "memory_gib", "kv_tokens", "quant"}) {
    EXPECT_TRUE(config["workers"][1].contains(key)) << key;
  }
  EXPECT_NEAR(config["tokens_per_s_per_gpu"].get<double>(), 823.1, 1e-9);
  EXPECT_EQ(config["gpus_used"], 32);
  double sum = 0;
  for (const auto& [name, share] : config["evidence"].items()) sum += share.get<double>();
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(config["evidence"].size(), 6u);
}

TEST(ConfigsCsv, EveryLineHasTheHeadersNumberOfFields) {
  const std::vector<Estimate> configs{agg(2, 64, 612.5, 34.1), disagg(4, 96, 823.1, 34.2)};
  std::istringstream lines(report::configs_csv(configs));
  std::string header;
  std::getline(lines, header);
  const auto fields = std::count(header.begin(), header.end(), ',');
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), fields) << line;
  }
  EXPECT_EQ(rows, 2);
  EXPECT_NE(header.find("prefill_batch"), std::string::npos);
}

TEST(EstimateText, ShowsSpeedEvidenceMemoryAndOperators) {
  search::EstimateAnswer answer;
  answer.inputs = resolved();
  answer.estimate = disagg(4, 96, 823.1, 34.2);
  answer.breakdown = {{"decode",
                       {{"qkv_gemm", 64, Ms(3.2), perfdb::Source::measured},
                        {"attention", 64, Ms(9.6), perfdb::Source::interpolated}}}};
  expect_recorded("estimate", estimate_text(kWide, estimate_request(), {"isl"}, answer));
  EXPECT_LE(widest_line(estimate_text(kNarrow, estimate_request(), {}, answer)), 80);
}

TEST(EstimateText, ARefusalNamesWhatWouldFit) {
  search::EstimateAnswer answer;
  answer.inputs = resolved();
  search::Refusal refusal;
  refusal.text = "KV capacity: batch 64 needs 146.6 GiB of KV, 80.0 GiB are free";
  refusal.memory = worker(Role::mixed, 1, {}, 64).memory;
  refusal.kv_per_sequence = gib_of(2.29);
  refusal.largest_batch = 34;
  refusal.longest_length = 35'000;
  answer.refusal = refusal;
  const std::string out = estimate_text(kWide, estimate_request(), {}, answer);
  expect_recorded("refusal", out);
  const base::Json json = estimate_json(estimate_request(), {}, answer);
  EXPECT_EQ(json["refusal"]["largest_batch"], 34);
  EXPECT_NEAR(json["refusal"]["kv_gib_per_sequence"].get<double>(), 2.29, 1e-6);
}

}  // namespace
}  // namespace setpoint::report_test
