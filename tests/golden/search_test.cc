// SPDX-License-Identifier: Apache-2.0
// Whole searches of AIConfigurator 0.12.0 against ours: the peer's best configurations priced by
// our model, and our winner against them. Prints the tables of docs/accuracy-search.md.
// tests/golden/search.jsonl: inputs, number formats and best configurations of 14 peer searches; a
// mixed step's budget is restated in tokens to compute (the peer counts cached ones too).
#include "search/search.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "search/estimate.h"
#include "search/label.h"

namespace {

using namespace setpoint;
using namespace setpoint::search;
using base::Json;

std::filesystem::path database() {
  if (const char* given = std::getenv("SETPOINT_DB")) return given;
  return SETPOINT_BINARY_DIR "/share/setpoint/perfdb.db";
}

struct Row {
  EstimateRequest request;
  double throughput = 0, ttft = 0, tpot = 0;  // the peer's
};
struct Case {
  std::string id;
  SearchRequest search;
  std::vector<Row> rows;  // best first of each mode
};

EstimateRequest parse(const Json& json) {
  auto request = parse_request(json.dump(), "golden");
  EXPECT_TRUE(request.ok()) << (request ? "" : request.error().text);
  return request ? std::move(request).value() : EstimateRequest{};
}

std::vector<Case> read_cases() {
  std::ifstream in(SETPOINT_SOURCE_DIR "/tests/golden/search.jsonl");
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    const Json json = Json::parse(line);
    Json common = json["search"];
    common["quant"] = json["quant"];
    Case c{json["id"], {}, {}};
    const EstimateRequest base = parse(common);
    c.search.subject = base.subject;
    c.search.frameworks = {base.framework};
    c.search.target.gpus = base.gpus;
    const auto bound = [&](const char* key) {
      return json["sla"].contains(key) ? std::optional<Ms>(Ms(json["sla"][key].get<double>()))
                                       : std::nullopt;
    };
    c.search.sla = {bound("ttft_ms"), bound("tpot_ms"), bound("request_latency_ms")};
    for (const Json& row : json["rows"]) {
      Json request = common;
      for (const auto& [key, value] : row["request"].items()) request[key] = value;
      c.rows.push_back(
          {parse(request), row["tokens_per_s_per_gpu"], row["ttft_ms"], row["tpot_ms"]});
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

bool keeps(const Performance& p, const Sla& sla) {
  return (!sla.ttft || p.ttft <= *sla.ttft) && (!sla.tpot || p.tpot <= *sla.tpot) &&
         (!sla.request_latency || p.request_latency <= *sla.request_latency);
}

class SearchGolden : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(database())) {
      GTEST_SKIP() << "no imported database at " << database() << ": run scripts/test";
    }
    cases_ = read_cases();
    ASSERT_EQ(cases_.size(), 14u);
  }
  std::vector<Case> cases_;
};

constexpr double kClose = 0.15;
constexpr std::size_t kCloseSearches = 10;

// tokens/s/GPU, TTFT and TPOT of the peer's best configuration of both modes.
TEST_F(SearchGolden, ThePeersBestConfigurationsGetThePeersFigures) {
  Estimator estimator;
  std::size_t close = 0;
  fmt::print(
      "| search | configuration | tokens/s/GPU | peer | TTFT ms | peer | TPOT ms | peer |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (const Case& c : cases_) {
    bool all = true;
    std::optional<Mode> last;
    for (const Row& row : c.rows) {
      if (last == row.request.mode) continue;
      last = row.request.mode;
      const auto answer = estimator.answer(row.request);
      ASSERT_TRUE(answer.ok()) << c.id << answer.error().text;
      ASSERT_TRUE(answer->estimate) << c.id << answer->refusal->text;
      const Estimate& e = *answer->estimate;
      const std::array<std::pair<double, double>, 3> pairs{
          std::pair{e.tokens_per_s_per_gpu(), row.throughput},
          {e.performance.ttft.value(), row.ttft},
          {e.performance.tpot.value(), row.tpot}};
      std::string cells;
      for (const auto& [ours, theirs] : pairs) {
        all = all && std::fabs(ours / theirs - 1) <= kClose;
        cells +=
            fmt::format(" {:.1f} ({:+.1f} %) | {:.1f} |", ours, (ours / theirs - 1) * 100, theirs);
      }
      fmt::print("| {} | {} |{}\n", c.id, label(e), cells);
    }
    close += all;
  }
  fmt::print("{} of {} searches within {:.0f} % in all figures\n", close, cases_.size(),
             kClose * 100);
  EXPECT_GE(close, kCloseSearches);
}

TEST_F(SearchGolden, OurWinnerIsAtLeastAsGoodAsAnyConfigurationOfThePeer) {
  Estimator estimator;
  fmt::print("| search | our winner | tokens/s/GPU | peer's best under our model | ms |\n");
  fmt::print("|---|---|---|---|---|\n");
  for (const Case& c : cases_) {
    const auto result = setpoint::search::search(c.search);
    ASSERT_TRUE(result.ok()) << c.id << result.error().text;
    double peers = 0;
    for (const Row& row : c.rows) {
      const auto answer = estimator.answer(row.request);
      if (!answer.ok() || !answer->estimate) continue;  // context parallelism is not priced yet
      if (!keeps(answer->estimate->performance, c.search.sla)) continue;
      const double theirs = answer->estimate->tokens_per_s_per_gpu();
      peers = std::max(peers, theirs);
      const ModeResult* mode = result->mode(row.request.mode);
      ASSERT_NE(mode, nullptr);
      ASSERT_FALSE(mode->configs.empty()) << c.id;
      EXPECT_GE(mode->configs[0].tokens_per_s_per_gpu(), theirs * (1 - 1e-9))
          << c.id << ": " << label(*answer->estimate);
    }
    ASSERT_TRUE(result->best) << c.id;
    const Estimate& best = result->mode(result->best->first)->configs[0];
    fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.0f} |\n", c.id, label(best),
               best.tokens_per_s_per_gpu(), peers, result->stats.wall_ms);
    EXPECT_GE(best.tokens_per_s_per_gpu(), peers * (1 - 1e-9));
  }
}

// AIConfigurator paper, Qwen3-235B on 64 H200, 4096 tokens in and 1024 out, at least 20 tokens/s
// for each user: 823 tokens/s/GPU disaggregated and 564 aggregated.
TEST_F(SearchGolden, ThePapersExampleStandsBesideThePapersFigures) {
  fmt::print(
      "| framework | TTFT bound | disagg | paper | agg | paper |\n|---|---|---|---|---|---|\n");
  for (const char* framework : {"trtllm", "sglang", "vllm"}) {
    for (double ttft : {0.0, 1000.0}) {
      SearchRequest request;
      request.subject.model = "Qwen/Qwen3-235B-A22B-FP8";
      request.subject.system = "h200_sxm";
      request.subject.workload = {.isl = 4096, .osl = 1024};
      request.frameworks = {framework};
      request.target.gpus = 64;
      request.sla.tpot = Ms(50);
      if (ttft > 0) request.sla.ttft = Ms(ttft);
      const auto result = setpoint::search::search(request);
      ASSERT_TRUE(result.ok()) << result.error().text;
      const auto figure = [&](Mode mode) {
        const ModeResult* found = result->mode(mode);
        return found->configs.empty() ? 0 : found->configs[0].tokens_per_s_per_gpu();
      };
      fmt::print("| {} | {} | {:.0f} | 823 | {:.0f} | 564 |\n", framework,
                 ttft > 0 ? fmt::format("{:.0f} ms", ttft) : "none", figure(Mode::disagg),
                 figure(Mode::agg));
      EXPECT_GT(figure(Mode::agg), 0);
    }
  }
}

}  // namespace
