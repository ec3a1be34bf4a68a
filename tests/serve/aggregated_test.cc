// SPDX-License-Identifier: Apache-2.0
// Algorithm 2 by hand. A token costs 1 us, so a step of n tokens costs n/1000 ms.
#include "fake_engine.h"
#include "ops/roofline.h"

namespace setpoint::serve {
namespace {

// 8 requests of 1000/101, 1000 prompt tokens a step: T = 8 mixed steps of 1000 + 7 tokens, D = 101,
// 93 decode steps of 8 tokens. Round 8 x 1.007 + 93 x 0.008 = 8.8 ms.
TEST(Aggregated, DecodeBoundRoundByStepsLaw) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Point p = aggregated(engine, workload(1000, 101), 8, 1000);
  expect_close(p.ttft.value(), 1.007 * (2 + 5.0 / 20));
  expect_close(p.tpot.value(), (5 * 1.007 + 93 * 0.008) / 98);
  expect_close(p.requests_per_s, 8 / 8.8 * 1000);
  expect_close(p.request_latency.value(), p.ttft.value() + 100 * p.tpot.value());
  expect_close(p.concurrency, 8);
  expect_close(p.evidence.total(), 8.8 / 8);
}

// vLLM: all mixed steps are felt, waiting grows with log2 of the batch, 0.8 ms a layer of launches,
// and no request leaves faster than the batch turns over.
TEST(Aggregated, DecodeBoundRoundByBatchLaw) {
  Engine engine = fake_engine("vllm", {token_op()});
  const Point p = aggregated(engine, workload(1000, 101), 8, 1000);
  expect_close(p.ttft.value(), (1.007 + 8) * (1 + 3.0 / 8));
  expect_close(p.tpot.value(), (8 * 1.007 + 93 * 0.008) / 101);
  expect_close(p.requests_per_s, 8 / p.request_latency.value() * 1000);
}

// 64 requests of 1000/11: T = 64 > D = 11, so a request decodes in 11 of 64 steps and 11 decode at
// once.
TEST(Aggregated, PrefillBoundRoundMatchesTheRates) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Point p = aggregated(engine, workload(1000, 11), 64, 1000);
  expect_close(p.tpot.value(), 1.011);
  expect_close(p.requests_per_s, 1 / 1.011 * 1000);
  expect_close(p.ttft.value(), 1.011 * 4);  // 2 + 61/20 is above the ceiling
}

TEST(Aggregated, TheOffsetNeverDropsAShortPrefill) {
  Engine engine = fake_engine("sglang", {token_op()});
  const auto felt = [&](std::int64_t batch) {
    const Point p = aggregated(engine, workload(1000, 101), batch, 1000);
    const double b = static_cast<double>(batch), mixed = (1000 + b - 1) / 1000, gen = b / 1000;
    const double only = 101 - b;  // T = batch
    return (p.tpot.value() - gen) * only / (mixed - p.tpot.value());
  };
  EXPECT_NEAR(felt(2), 2, 1e-6);
  EXPECT_NEAR(felt(3), 3, 1e-6);
  EXPECT_NEAR(felt(5), 3, 1e-6);
  EXPECT_NEAR(felt(8), 5, 1e-6);
}

// A cached prefix shortens every prompt: half the mixed steps, each with two prompts of 500 tokens.
TEST(Aggregated, APrefixLowersPromptTokensAndSteps) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Point p = aggregated(engine, workload(1000, 101, 500), 8, 1000);
  const double mixed = 1.006, gen = 0.008;  // 8 - 2 decodes beside two prompts
  expect_close(p.ttft.value(), mixed * (2 + 1.0 / 20));
  expect_close(p.requests_per_s, 8 / (4 * mixed + 97 * gen) * 1000);
  // also when the budget is below the input length
  const Point chunked = aggregated(engine, workload(1000, 101, 500), 8, 250);
  expect_close(chunked.requests_per_s, 8 / (16 * 0.257 + 85 * gen) * 1000);
}

// One request alone: no decodes beside its prompt, tokens come at the pace of a batch of one.
TEST(Aggregated, ALoneRequest) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Point p = aggregated(engine, workload(1000, 101), 1, 4096);
  expect_close(p.ttft.value(), 1.0 * 1.9);
  expect_close(p.tpot.value(), 0.001);
  expect_close(p.requests_per_s, 1000 / (1.0 + 100 * 0.001));
}

TEST(Aggregated, OneOutputTokenHasNoTimePerToken) {
  for (const char* framework : {"trtllm", "vllm"}) {
    Engine engine = fake_engine(framework, {token_op()});
    const Point p = aggregated(engine, workload(1000, 1), 8, 2000);
    EXPECT_EQ(p.tpot.value(), 0);
    EXPECT_EQ(p.request_latency, p.ttft);
    EXPECT_GT(p.requests_per_s, 0);
  }
  Engine engine = fake_engine("trtllm", {token_op()});
  expect_close(aggregated(engine, workload(1000, 1), 8, 2000).requests_per_s, 8 / (4 * 2.0) * 1000);
}

// Three tokens a step (two drafts accepted of three): 1 + 99/3 = 34 iterations of 4 tokens each.
TEST(Aggregated, DraftTokensShortenTheDecode) {
  Engine engine = fake_engine("trtllm", {token_op()});
  Workload w = workload(1000, 100);
  w.nextn = 3;
  w.nextn_accepted = 2;
  const Point p = aggregated(engine, w, 8, 1000);
  const double mixed = 1.028, gen = 0.032;
  expect_close(p.tpot.value(), (5 * mixed + 26 * gen) / 31 / 3);
  expect_close(p.requests_per_s, 8 / (8 * mixed + 26 * gen) * 1000);
}

// Chunks of 1000 of a 4000-token prompt attend to 1500 earlier tokens on average, and the decodes
// of the same step attend too. 4-GPU-wide arithmetic aside, times come from the operators'
// roofline.
TEST(Aggregated, ChunksAttendToWhatCameBefore) {
  Engine engine = fake_engine("trtllm", {prefill_attention(), decode_attention()});
  const Workload w = workload(4000, 101);
  const Point p = aggregated(engine, w, 4, 1000);  // T = 16, 3 decodes, mean KV 4050.5
  const hw::System system = fake_system();
  const auto prompt = ops::roofline(prefill_attention().op, {1000, 1, 1000, 1500}, system);
  const auto beside = ops::roofline(decode_attention().op, {3, 3, 4050.5, 0}, system);
  const auto decode = ops::roofline(decode_attention().op, {4, 4, 4050.5, 0}, system);
  const double round = 16 * (prompt + beside).value() + 85 * decode.value();
  expect_close(p.requests_per_s, 4 / round * 1000);
  expect_close(p.ttft.value(), 4 * (prompt + beside).value() * (2 + 13.0 / 20));
}

// Two stages: two micro-batches of 4 are under way, each leaving a step's time apart; ten layers
// split evenly. Latency is that of a batch of 4.
TEST(Aggregated, PipelineStagesMultiplyThroughputNotLatency) {
  Engine one = fake_engine("trtllm", {token_op()});
  Engine two = fake_engine("trtllm", {token_op()}, 2);
  const Workload w = workload(1000, 101);
  const Point half = aggregated(one, w, 4, 1000);
  const Point both = aggregated(two, w, 8, 1000);
  expect_close(both.requests_per_s, 2 * half.requests_per_s);
  expect_close(both.ttft.value(), half.ttft.value());
  expect_close(both.concurrency, 8);
  Engine three = fake_engine("trtllm", {token_op()}, 3);  // fullest of 3 stages: 4 of 10 layers
  expect_close(aggregated(three, w, 12, 1000).requests_per_s, 3 * half.requests_per_s / 1.2);
  expect_close(aggregated(two, w, 1, 1000).requests_per_s,
               aggregated(one, w, 1, 1000).requests_per_s);  // one request fills one stage
}

}  // namespace
}  // namespace setpoint::serve
