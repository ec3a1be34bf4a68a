// SPDX-License-Identifier: Apache-2.0
#include "search/estimate.h"

#include <gtest/gtest.h>

#include <numeric>

namespace {

using namespace setpoint;
using namespace setpoint::search;

EstimateAnswer must(const std::string& json) {
  auto request = parse_request(json, "request");
  EXPECT_TRUE(request.ok()) << (request ? "" : request.error().text);
  if (!request) return {};
  request->subject.data = perfdb::DataMode::roofline;
  auto answer = estimate(*request);
  EXPECT_TRUE(answer.ok()) << (answer ? "" : answer.error().text);
  return answer ? std::move(answer).value() : EstimateAnswer{};
}

std::string error_of(const std::string& json) {
  auto request = parse_request(json, "line 3");
  if (!request) return request.error().text;
  const auto answer = estimate(*request);
  return answer ? "" : answer.error().text;
}

// gpt-oss-120b keeps 18 of 36 layers at full length, 8 KV heads of 64 in 16 bits: 66,560 tokens
// take 2.29 GiB a sequence.
TEST(Estimate, ABatchThatDoesNotFitIsRefusedWithTheFiguresThatWouldChangeIt) {
  const EstimateAnswer answer = must(R"({"model": "openai/gpt-oss-120b", "system": "b200_sxm",
      "framework": "trtllm", "isl": 65536, "osl": 1024, "tp": 1, "batch": 64})");
  ASSERT_TRUE(answer.refusal);
  EXPECT_FALSE(answer.estimate);
  const Refusal& refusal = *answer.refusal;
  EXPECT_NE(refusal.text.find("KV capacity"), std::string::npos);
  EXPECT_NE(refusal.text.find("2.29 GiB"), std::string::npos) << refusal.text;
  EXPECT_GT(refusal.largest_batch, 0);
  EXPECT_LT(refusal.largest_batch, 64);
  EXPECT_GT(refusal.longest_length, 1024);
  EXPECT_LT(refusal.longest_length, 66560);
  // Both ways out are true: that batch and that length are answered.
  const std::string head = R"({"model": "openai/gpt-oss-120b", "system": "b200_sxm",
      "framework": "trtllm", "osl": 1024, "tp": 1, )";
  EXPECT_TRUE(
      must(head + "\"isl\": 65536, \"batch\": " + std::to_string(refusal.largest_batch) + "}")
          .estimate);
  EXPECT_TRUE(must(head + "\"batch\": 64, \"chunk_tokens\": 8192, \"isl\": " +
                   std::to_string(refusal.longest_length - 1024) + "}")
                  .estimate);
}

TEST(Estimate, ConcurrencyAboveTheKvPoolQueuesAndSaysSo) {
  const std::string head = R"({"model": "Qwen/Qwen3-32B-FP8", "system": "h100_sxm",
      "framework": "trtllm", "isl": 4000, "osl": 1000, "tp": 1, "concurrency": )";
  const auto few = must(head + "4}");
  const auto many = must(head + "2000}");
  ASSERT_TRUE(few.estimate && many.estimate);
  EXPECT_EQ(few.estimate->workers[0].batch, 4);
  EXPECT_TRUE(few.estimate->warnings.empty());
  const Estimate& e = *many.estimate;
  EXPECT_LT(e.workers[0].batch, 100);
  EXPECT_EQ(e.performance.concurrency, 2000);
  ASSERT_FALSE(e.warnings.empty());
  EXPECT_NE(e.warnings.back().find("queue"), std::string::npos);
  // Little's law: requests in flight = rate x time in the system.
  EXPECT_NEAR(e.performance.requests_per_s * e.performance.request_latency.value() / 1000, 2000,
              1e-6);
}

TEST(Estimate, TheMissingOfMoeTpAndMoeEpFollows) {
  const auto answer = must(R"({"model": "Qwen/Qwen3-235B-A22B-FP8", "system": "h200_sxm",
      "framework": "vllm", "isl": 1000, "osl": 100, "tp": 4, "moe_ep": 4, "batch": 8})");
  ASSERT_TRUE(answer.estimate);
  EXPECT_EQ(answer.estimate->workers[0].shard.moe_tp, 1);
  EXPECT_EQ(answer.estimate->workers[0].shard.moe_ep, 4);
  const auto other = must(R"({"model": "Qwen/Qwen3-235B-A22B-FP8", "system": "h200_sxm",
      "framework": "vllm", "isl": 1000, "osl": 100, "tp": 4, "moe_tp": 1, "batch": 8})");
  EXPECT_EQ(other.estimate, answer.estimate);
  EXPECT_NE(error_of(R"({"model": "Qwen/Qwen3-235B-A22B-FP8", "system": "h200_sxm", "isl": 1000,
      "osl": 100, "tp": 4, "moe_ep": 3})"),
            "");
}

TEST(Estimate, DisaggregatedPoolsAreGivenEachForItself) {
  const auto answer = must(R"({"id": "d", "model": "Qwen/Qwen3-32B-FP8", "system": "h200_sxm",
      "framework": "vllm", "mode": "disagg", "isl": 4000, "osl": 500,
      "prefill": {"workers": 3, "tp": 1, "batch": 1}, "decode": {"workers": 1, "tp": 4, "batch": 80}})");
  ASSERT_TRUE(answer.estimate);
  EXPECT_EQ(answer.estimate->gpus_per_replica, 7);
  ASSERT_EQ(answer.estimate->workers.size(), 2u);
  EXPECT_EQ(answer.estimate->workers[0].role, Role::prefill);
  EXPECT_EQ(answer.estimate->workers[1].batch, 80);
  const Performance& p = answer.estimate->performance;
  EXPECT_DOUBLE_EQ(p.concurrency, p.requests_per_s * p.request_latency.value() / 1000);
}

TEST(Estimate, TheBreakdownOfAStepAddsUpToItsTime) {
  auto request = parse_request(R"({"model": "Qwen/Qwen3-32B-FP8", "system": "h200_sxm",
      "framework": "vllm", "isl": 4000, "osl": 500, "tp": 2, "batch": 1})",
                               "request");
  ASSERT_TRUE(request.ok());
  request->subject.data = perfdb::DataMode::roofline;
  request->breakdown = true;
  const auto answer = estimate(*request);
  ASSERT_TRUE(answer.ok() && answer->estimate);
  ASSERT_EQ(answer->breakdown.size(), 2u);
  double decode = 0;
  for (const auto& op : answer->breakdown[1].ops) decode += op.hidden ? 0 : op.time.value();
  EXPECT_NEAR(decode, answer->estimate->performance.tpot.value(), decode * 1e-6);
}

TEST(Estimate, AnEstimatorAnswersAsOneAlone) {
  Estimator estimator;
  for (const char* tp : {"1", "2", "1"}) {
    auto request = parse_request(
        std::string(R"({"model": "Qwen/Qwen3-8B", "system": "h200_sxm", "isl": 900, "osl": 90,
            "concurrency": 7, "tp": )") +
            tp + "}",
        "request");
    ASSERT_TRUE(request.ok());
    request->subject.data = perfdb::DataMode::roofline;
    const auto shared = estimator.answer(*request);
    const auto alone = estimate(*request);
    ASSERT_TRUE(shared.ok() && alone.ok());
    EXPECT_EQ(shared->estimate, alone->estimate);
  }
}

TEST(Estimate, WithoutAFrameworkTheBestOfAllAnswersAndSaysSo) {
  const std::string head = R"({"model": "Qwen/Qwen3-8B", "system": "h200_sxm", "isl": 900,
      "osl": 90, "batch": 32, "framework": ")";
  double best = 0;
  for (const std::string& name : framework::framework_names()) {
    const auto one = must(head + name + "\"}");
    ASSERT_TRUE(one.estimate);
    EXPECT_EQ(one.inputs.frameworks.size(), 1u);
    best = std::max(best, one.estimate->tokens_per_s_per_gpu());
  }
  const auto all = must(head + "all\"}");
  ASSERT_TRUE(all.estimate);
  EXPECT_DOUBLE_EQ(all.estimate->tokens_per_s_per_gpu(), best);
  EXPECT_EQ(all.inputs.frameworks.size(), 3u);
  ASSERT_FALSE(all.inputs.warnings.empty());
  EXPECT_NE(all.inputs.warnings.back().find("no framework given"), std::string::npos);
}

TEST(Request, EveryKeyOfTheContractIsRead) {
  const auto request = parse_request(
      R"({"id": "r0001", "model": "Qwen/Qwen3-235B-A22B-FP8", "precision": "fp8",
          "system": "h100_sxm", "framework": "trtllm", "framework_version": null, "mode": "disagg",
          "isl": 128, "osl": 512, "prefix": 16, "concurrency": 32, "tp": 4, "pp": 2, "dp": 1,
          "moe_tp": 1, "moe_ep": 4, "quant": {"kv": "fp8"},
          "workload": {"kind": "closed", "waves": 8, "len_ratio": 0.9}, "nextn": 2,
          "nextn_accepted": 1.5, "alpha": 0.6, "chunk_tokens": 2048, "max_num_seqs": 64,
          "max_num_tokens": 4096, "memory_fraction": 0.85, "kv_tokens": 100000, "poll_steps": 10,
          "prompt_cache": true,
          "prefill": {"workers": 3, "tp": 1, "pp": 1, "dp": 2, "moe_tp": 1, "moe_ep": 2, "batch": 1},
          "decode": {"workers": 2, "tp": 8, "batch": 40}})",
      "line 1");
  ASSERT_TRUE(request.ok()) << request.error().text;
  EXPECT_EQ(request->framework, "trtllm");
  EXPECT_EQ(request->subject.framework_version, "");
  EXPECT_EQ(request->mode, Mode::disagg);
  EXPECT_EQ(request->subject.workload.prefix, 16);
  EXPECT_EQ(request->subject.workload.nextn_accepted, 1.5);
  EXPECT_EQ(request->subject.quant[0].mode, "fp8");
  EXPECT_EQ(request->load.kind, Load::Kind::closed);
  EXPECT_EQ(request->load.waves, 8);
  EXPECT_EQ(request->settings.kv_tokens, 100000);
  EXPECT_EQ(request->settings.prompt_cache, true);
  EXPECT_EQ(request->prefill.workers, 3);
  EXPECT_EQ(request->prefill.dp, 2);
  EXPECT_EQ(request->decode.batch, 40);
}

TEST(Request, WhatIsWrongIsNamedWithWhatWouldBeRight) {
  const auto says = [](const std::string& json, const std::string& part) {
    const std::string text = error_of(json);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  };
  const std::string rest = R"("system": "h200_sxm", "isl": 10, "osl": 10})";
  says(R"({"model": "Qwen/Qwen3-8B", "frameworks": "vllm", )" + rest, "framework");
  says(R"({"model": "Qwen/Qwen3-8B", "framework": "vlm", )" + rest, "vllm");
  says(R"({"model": "Qwen/Qwen3-8B", "mode": "aggregated", )" + rest, "agg");
  says("{" + rest, "model");
  says(R"({"model": "Qwen/Qwen3-8B", "system": "h200_sxm", "isl": 0, "osl": 10})", "isl");
  says(R"({"model": "Qwen/Qwen3-8B", "tp": 1e12, )" + rest, "tp");
  says(R"({"model": "Qwen/Qwen3-8B", "tp": "four", )" + rest, "tp");
  says(R"({"model": "Qwen/Qwen3-8B", "mode": "disagg", )" + rest, "prefill");
  says(R"({"model": "Qwen/Qwen3-8B", "workload": {"kind": "open"}, )" + rest, "rate");
  says(R"({"model": "Qwen/Qwen3-8B", "quant": {"kv": "fp9"}, )" + rest, "fp8");
  says("[1]", "object");
  says("{", "JSON");
}

}  // namespace
