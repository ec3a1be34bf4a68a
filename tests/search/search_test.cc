// SPDX-License-Identifier: Apache-2.0
#include "search/search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/estimate.h"

namespace {

using namespace setpoint;
using namespace setpoint::search;

// On rooflines, so that the answers need no imported tables.
SearchRequest make_request(const std::string& model, const std::string& system, std::int64_t gpus) {
  SearchRequest r;
  r.subject.model = model;
  r.subject.system = system;
  r.subject.data = perfdb::DataMode::roofline;
  r.frameworks = {"vllm"};
  r.target.gpus = gpus;
  return r;
}

SearchResult must(const SearchRequest& request) {
  auto result = setpoint::search::search(request);
  EXPECT_TRUE(result.ok()) << (result ? "" : result.error().text);
  return result ? std::move(result).value() : SearchResult{};
}

std::vector<Estimate> all_rows(const SearchResult& result) {
  std::vector<Estimate> out;
  for (const ModeResult& mode : result.modes) {
    out.insert(out.end(), mode.configs.begin(), mode.configs.end());
  }
  return out;
}

// The single estimate and the search share every function: equal to the last digit.
TEST(Search, EveryRowGivenBackIsEstimatedAlike) {
  for (const char* model : {"Qwen/Qwen3-32B-FP8", "Qwen/Qwen3-235B-A22B-FP8", "openai/gpt-oss-120b",
                            "deepseek-ai/DeepSeek-V3"}) {
    SearchRequest request = make_request(model, "h200_sxm", 16);
    request.frameworks = {};
    request.modes = {Mode::agg, Mode::disagg, Mode::static_batch};
    request.sla.tpot = Ms(60);
    const SearchResult result = must(request);
    const auto rows = all_rows(result);
    EXPECT_GE(rows.size(), 10u) << model;
    for (const Estimate& row : rows) {
      const auto again = estimate(request_of(request.subject, row));
      ASSERT_TRUE(again.ok()) << model << again.error().text;
      ASSERT_TRUE(again->estimate) << model << again->refusal->text;
      EXPECT_EQ(*again->estimate, row) << model;
    }
  }
}

TEST(Search, EveryCandidateEndsInExactlyOneBucket) {
  SearchRequest request = make_request("Qwen/Qwen3-235B-A22B-FP8", "h200_sxm", 16);
  request.frameworks = {};
  request.sla = {.ttft = Ms(1000), .tpot = Ms(25), .request_latency = Ms(24000)};
  const SearchResult result = must(request);
  std::int64_t sum = result.stats.met;
  for (const auto& [bucket, count] : result.rejected) sum += count;
  EXPECT_EQ(sum, result.stats.candidates);
  for (const char* bucket : {"ttft", "tpot", "request_latency", "framework", "out_of_memory"}) {
    EXPECT_GT(result.rejected.count(bucket), 0u) << bucket;
  }
  // Points are counted once; only layouts without a point add to them.
  EXPECT_GT(result.stats.candidates, result.stats.points);
  EXPECT_LT(result.stats.candidates, result.stats.points + 1000);
}

TEST(Search, AnyNumberOfThreadsGivesTheSameAnswer) {
  SearchRequest request = make_request("openai/gpt-oss-120b", "h200_sxm", 8);
  request.frameworks = {};
  request.sla.tpot = Ms(20);
  std::optional<SearchResult> first;
  for (unsigned threads : {1u, 2u, 5u}) {
    request.threads = threads;
    const SearchResult result = must(request);
    if (!first) {
      first = result;
      continue;
    }
    EXPECT_EQ(all_rows(result), all_rows(*first));
    ASSERT_EQ(result.modes.size(), first->modes.size());
    for (std::size_t i = 0; i < result.modes.size(); ++i) {
      EXPECT_EQ(result.modes[i].frontier, first->modes[i].frontier);
    }
    EXPECT_EQ(result.rejected, first->rejected);
    EXPECT_EQ(result.why, first->why);
  }
}

TEST(Search, OneOutputTokenIsRankedByRequestsPerSecond) {
  SearchRequest request = make_request("Qwen/Qwen3-32B-FP8", "h200_sxm", 8);
  request.frameworks = {"trtllm"};
  request.subject.workload.osl = 1;
  const SearchResult result = must(request);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.mode(Mode::disagg), nullptr);
  const auto& rows = result.mode(Mode::agg)->configs;
  ASSERT_GE(rows.size(), 2u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].performance.tpot, Ms(0));
    EXPECT_GT(rows[i].performance.requests_per_s, 0);
    EXPECT_GT(rows[i].tokens_per_s_per_gpu(), 0);
    EXPECT_TRUE(std::isfinite(rows[i].performance.request_latency.value()));
    if (i == 0) continue;
    EXPECT_GE(rows[i - 1].performance.requests_per_s * double(rows[i - 1].replicas),
              rows[i].performance.requests_per_s * double(rows[i].replicas));
  }
}

TEST(Search, WithoutABoundNoLatencyRejectsAnything) {
  const SearchResult result = must(make_request("Qwen/Qwen3-32B-FP8", "h200_sxm", 8));
  for (const char* bucket : {"ttft", "tpot", "request_latency"}) {
    EXPECT_EQ(result.rejected.count(bucket), 0u) << bucket;
  }
  EXPECT_GT(result.stats.met, 0);
}

TEST(Search, NoRowUsesMoreGpusThanAskedForAndMoeWorkersStayInTheirNode) {
  SearchRequest request = make_request("Qwen/Qwen3-30B-A3B", "h200_sxm", 64);
  request.frameworks = {};
  request.top = 50;
  const SearchResult result = must(request);
  for (const ModeResult& mode : result.modes) {
    ASSERT_FALSE(mode.configs.empty());
    for (const auto* rows : {&mode.configs, &mode.frontier}) {
      for (const Estimate& row : *rows) {
        std::int64_t used = 0;
        for (const Worker& worker : row.workers) {
          EXPECT_LE(worker.shard.gpus(), 8);
          used += worker.count * worker.shard.gpus() * row.replicas;
        }
        EXPECT_EQ(used, row.gpus_used());
        EXPECT_LE(used, 64);
        EXPECT_EQ(row.gpus_asked, 64);
      }
    }
  }
}

TEST(Search, RowsKeepTheBoundsAndAreTheBestOfTheirLayouts) {
  SearchRequest request = make_request("Qwen/Qwen3-32B-FP8", "h200_sxm", 32);
  request.sla = {.ttft = Ms(2000), .tpot = Ms(30), .request_latency = Ms(25000)};
  const SearchResult result = must(request);
  for (const ModeResult& mode : result.modes) {
    for (std::size_t i = 0; i < mode.configs.size(); ++i) {
      const Estimate& row = mode.configs[i];
      EXPECT_LE(row.performance.ttft, Ms(2000));
      EXPECT_LE(row.performance.tpot, Ms(30));
      EXPECT_LE(row.performance.request_latency, Ms(25000));
      if (i > 0) {
        EXPECT_GE(mode.configs[i - 1].tokens_per_s_per_gpu(), row.tokens_per_s_per_gpu());
      }
    }
    // The front holds a point at least as good as every row in both respects.
    for (const Estimate& row : mode.configs) {
      bool reached = false;
      for (const Estimate& point : mode.frontier) {
        reached =
            reached || (point.tokens_per_s_per_gpu() >= row.tokens_per_s_per_gpu() * 0.999999 &&
                        point.tokens_per_s_per_user() >= row.tokens_per_s_per_user() * 0.999999);
      }
      EXPECT_TRUE(reached);
    }
  }
}

TEST(Search, WhenNothingKeepsTheBoundItNamesTheLimitAndTheNearest) {
  SearchRequest request = make_request("Qwen/Qwen3-32B-FP8", "h200_sxm", 8);
  request.sla.tpot = Ms(0.5);
  const SearchResult result = must(request);
  EXPECT_FALSE(result.best);
  ASSERT_TRUE(result.no_answer);
  EXPECT_EQ(result.no_answer->binding_limit, "tpot");
  ASSERT_TRUE(result.no_answer->best_tpot);
  EXPECT_GT(*result.no_answer->best_tpot, Ms(0.5));
  EXPECT_EQ(result.no_answer->nearest.size(), 3u);
  EXPECT_DOUBLE_EQ(result.no_answer->nearest[0].performance.tpot.value(),
                   result.no_answer->best_tpot->value());
}

TEST(Search, AModelThatFitsNowhereIsNotAnEmptyTable) {
  const SearchResult result = must(make_request("deepseek-ai/DeepSeek-V3", "h200_sxm", 1));
  ASSERT_TRUE(result.no_answer);
  EXPECT_EQ(result.no_answer->binding_limit, "out_of_memory");
  EXPECT_NE(result.no_answer->text.find("GiB"), std::string::npos);
}

TEST(Search, FewestGpusServeARateOrAConcurrency) {
  SearchRequest request = make_request("Qwen/Qwen3-32B-FP8", "h200_sxm", 0);
  request.sla = {.ttft = {}, .tpot = Ms(30), .request_latency = {}};
  request.target = {.gpus = 0, .request_rate = 25, .concurrency = 0};
  const SearchResult by_rate = must(request);
  for (const ModeResult& mode : by_rate.modes) {
    ASSERT_FALSE(mode.configs.empty());
    for (const Estimate& row : mode.configs) {
      EXPECT_GE(row.performance.requests_per_s * double(row.replicas), 25 * 0.999999);
      EXPECT_EQ(row.gpus_asked, row.gpus_used());
      EXPECT_GE(row.gpus_asked, mode.configs[0].gpus_asked);
    }
    // One GPU less is not enough: the same search on given GPUs stays below the rate.
    SearchRequest less = request;
    less.target = {.gpus = mode.configs[0].gpus_asked - 1};
    less.modes = {mode.mode};
    const SearchResult smaller = must(less);
    for (const Estimate& row : smaller.mode(mode.mode)->configs) {
      EXPECT_LT(row.performance.requests_per_s * double(row.replicas), 25);
    }
  }
  request.target = {.gpus = 0, .request_rate = 0, .concurrency = 500};
  const SearchResult by_users = must(request);
  for (const Estimate& row : all_rows(by_users)) {
    EXPECT_GE(row.performance.concurrency * double(row.replicas), 500);
  }
}

TEST(Search, DecodeWorkersMayRunOnOtherGpus) {
  SearchRequest request = make_request("Qwen/Qwen3-32B-FP8", "h100_sxm", 16);
  request.decode_system = "h200_sxm";
  const SearchResult result = must(request);
  const auto& rows = result.mode(Mode::disagg)->configs;
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].workers[0].system, "h100_sxm");
  EXPECT_EQ(rows[0].workers[1].system, "h200_sxm");
  const auto again = estimate(request_of(request.subject, rows[0]));
  ASSERT_TRUE(again.ok() && again->estimate);
  EXPECT_EQ(*again->estimate, rows[0]);
}

TEST(Search, AnUnknownGpuIsRefusedAndOneDescribedIsAnsweredByRoofline) {
  SearchRequest request = make_request("Qwen/Qwen3-8B", "a40", 4);
  const auto refused = setpoint::search::search(request);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
  EXPECT_NE(refused.error().text.find("a30"), std::string::npos) << refused.error().text;
  // Nothing says which architecture it is, so no GPU's kernels are taken for its own.
  request.subject.data = perfdb::DataMode::hybrid;
  request.subject.system_spec = "mem=48,bw=696,bf16=149.7";
  const SearchResult described = must(request);
  ASSERT_TRUE(described.best);
  EXPECT_DOUBLE_EQ(all_rows(described)[0].performance.evidence[5], 1);
  // An A40 is of compute capability 8.6: told so, tables of Ampere and Ada stand in, and say so.
  request.subject.system_spec = "mem=48,bw=696,bf16=149.7,sm=86";
  const auto shares = all_rows(must(request))[0].performance.evidence;
  EXPECT_NEAR(shares[3] + shares[4] + shares[5], 1, 1e-9);
}

TEST(Search, ImpossibleNumbersAreRefusedInOneLine) {
  const auto refused = [](auto change) {
    SearchRequest request = make_request("Qwen/Qwen3-8B", "h200_sxm", 8);
    change(request);
    const auto result = setpoint::search::search(request);
    return !result.ok() && result.error().code == ErrorCode::bad_input &&
           result.error().text.find('\n') == std::string::npos;
  };
  EXPECT_TRUE(refused([](auto& r) { r.target.gpus = 0; }));
  EXPECT_TRUE(refused([](auto& r) { r.target.gpus = -4; }));
  EXPECT_TRUE(refused([](auto& r) { r.target.gpus = 1'000'000'000'000; }));
  EXPECT_TRUE(refused([](auto& r) { r.target.concurrency = 5; }));
  EXPECT_TRUE(refused([](auto& r) { r.subject.workload.isl = 0; }));
  EXPECT_TRUE(refused([](auto& r) { r.subject.workload.osl = 1'000'000'000'000; }));
  EXPECT_TRUE(refused([](auto& r) { r.subject.workload.prefix = 4000; }));
  EXPECT_TRUE(refused([](auto& r) { r.subject.workload.nextn_accepted = 1; }));
  EXPECT_TRUE(refused([](auto& r) { r.sla.tpot = Ms(0); }));
  EXPECT_TRUE(refused([](auto& r) { r.sla.ttft = Ms(std::nan("")); }));
  EXPECT_TRUE(refused([](auto& r) { r.subject.alpha = -1; }));
  EXPECT_TRUE(refused([](auto& r) { r.frameworks = {"vlm"}; }));
}

}  // namespace
