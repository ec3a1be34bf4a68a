// SPDX-License-Identifier: Apache-2.0
// Algorithms 1 and 3 by hand. A token costs 1 us.
#include <cmath>

#include "fake_engine.h"
#include "ops/roofline.h"
#include "serve/decode_sum.h"

namespace setpoint::serve {
namespace {

TEST(Static, PrefillThenDecode) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Point p = static_batch(engine, workload(1000, 101), 4);
  expect_close(p.ttft.value(), 4);
  expect_close(p.tpot.value(), 0.004);
  expect_close(p.request_latency.value(), 4.4);
  expect_close(p.requests_per_s, 4 / 4.4 * 1000);
  expect_close(p.evidence.total(), 1.1);
}

TEST(Static, APrefixIsNotComputedAgain) {
  Engine engine = fake_engine("trtllm", {token_op()});
  expect_close(static_batch(engine, workload(1000, 101, 600), 4).ttft.value(), 1.6);
}

TEST(Static, OneOutputTokenEndsWithThePrefill) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Point p = static_batch(engine, workload(1000, 1), 4);
  EXPECT_EQ(p.tpot.value(), 0);
  expect_close(p.requests_per_s, 1000);
}

// KV grows by one token a step; the strided sum equals the sum over all steps, for attention that
// is linear in the length.
TEST(Static, StridesDoNotUnderestimateGrowth) {
  Engine engine = fake_engine("trtllm", {decode_attention()});
  for (const std::int64_t osl : {2, 33, 34, 100, 5000}) {
    double exact = 0;
    for (std::int64_t i = 1; i < osl; ++i) {
      const double kv = 1000.0 + static_cast<double>(i);
      exact += ops::roofline(decode_attention().op, {8, 8, kv, 0}, fake_system()).value();
    }
    expect_close(decode_sum(engine, workload(1000, osl), 8).total(), exact);
  }
}

TEST(Static, DraftTokensCostAndShorten) {
  Engine engine = fake_engine("trtllm", {token_op()});
  Workload w = workload(1000, 101);
  w.nextn = 1;
  w.nextn_accepted = 0.6;
  expect_close(static_batch(engine, w, 4).tpot.value(), 0.008 / 1.6);
}

// 10 GB/s between nodes, 100 kB of KV a token: 1000 tokens take 10 ms.
TEST(Disaggregated, SidesCarryTheirCorrections) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Workload w = workload(1000, 101);
  const Point p = prefill(engine, w, 2);
  expect_close(p.ttft.value(), 2 * 1.1 * 1.8);
  expect_close(p.requests_per_s, 2 / 2.2 * 1000);
  expect_close(p.kv_transfer.value(), 10);
  const Point d = decode(engine, w, 50);
  expect_close(d.tpot.value(), 0.05 * 1.08);
  expect_close(d.requests_per_s, 50 / 5.4 * 1000);
}

TEST(Disaggregated, TheSlowerPoolSetsTheRate) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Workload w = workload(1000, 101);
  const Point p = prefill(engine, w, 1);  // 1000 / 1.1 requests/s
  const Point d = decode(engine, w, 50);  // 50 / 5.4 ms
  const Point few = disaggregated(p, 1, d, 1, w);
  expect_close(few.requests_per_s, 1000 / 1.1 * 0.9);
  expect_close(few.concurrency, few.requests_per_s * few.request_latency.value() / 1000);
  const Point many = disaggregated(p, 20, d, 1, w);
  expect_close(many.requests_per_s, 50 / 5.4 * 1000 * 0.92);
  expect_close(many.ttft.value(), 1.98 + 10);
  expect_close(many.request_latency.value(), 11.98 + 5.4);
  expect_close(many.evidence.total(), 1 + 0.1);
}

TEST(Disaggregated, WithOneOutputTokenPrefillAloneSetsTheRate) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Workload w = workload(1000, 1);
  const Point p = disaggregated(prefill(engine, w, 1), 2, decode(engine, w, 8), 1, w);
  expect_close(p.requests_per_s, 2 * 1000 / 1.1 * 0.9);
  EXPECT_EQ(p.tpot.value(), 0);
  EXPECT_TRUE(std::isfinite(p.requests_per_s));
}

// A request alone meets nobody: 1.1 ms of prefill, 10 ms of KV over the link, 290 ms of hand-over
// and 100 decode steps of one token, 1.08 us each.
TEST(ClosedLoop, AClientAloneNeverWaits) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Workload w = workload(1000, 101);
  const Point p = closed_loop(prefill(engine, w, 1), 1, engine, 1, 64, w, 1);
  expect_close(p.ttft.value(), 1.1 + 10 + 290);
  expect_close(p.tpot.value(), 0.001 * 1.08);
  expect_close(p.requests_per_s, 1000 / (301.1 + 0.108));
  EXPECT_LT(p.waiting.time.value(), 1e-9);
}

// Prefill of 110 ms and a decode that costs nothing: up to 40 clients repair one machine. Rate and
// busy share agree with the exact mean-value recursion to 6 %, never exceed what the pool can give,
// and Little holds.
TEST(ClosedLoop, ClientsWaitForABusyPrefillPool) {
  Engine engine = fake_engine("trtllm", {prefill_only_token()});
  const Workload w = workload(100000, 2);
  const Point one = prefill(engine, w, 1);
  const double most = one.requests_per_s * 0.9, service = 1 / most;
  const double away = (one.request_latency + one.kv_transfer).value() / 1000 + 0.29 - service;
  double queue = 0;
  for (int n = 1; n <= 40; ++n) {
    const double stay = service * (1 + queue);
    const double rate = n / (stay + away);
    queue = rate * stay;
    const Point p = closed_loop(one, 1, engine, 1, 64, w, n);
    EXPECT_NEAR(p.requests_per_s / rate, 1, 0.06) << n;
    EXPECT_LE(p.requests_per_s, most * (1 + 1e-9)) << n;
    expect_close(p.requests_per_s * p.request_latency.value() / 1000, n);
    EXPECT_NEAR(p.waiting.busy, p.requests_per_s / most, 1e-9) << n;
  }
}

// More clients than the decode workers have places: the decode pool sets the rate, the rest wait.
TEST(ClosedLoop, AFullDecodePoolSetsTheRate) {
  Engine engine = fake_engine("trtllm", {token_op()});
  const Workload w = workload(1000, 1001);
  const Point p = closed_loop(prefill(engine, w, 1), 4, engine, 1, 8, w, 1000);
  expect_close(p.requests_per_s, 8 / (1000 * 0.008 * 1.08) * 1000);
  EXPECT_EQ(p.waiting.role, Role::decode);
  EXPECT_EQ(p.waiting.busy, 1);
  expect_close(p.requests_per_s * p.request_latency.value() / 1000, 1000);
}

TEST(StepCache, GivesThePlansOwnAnswers) {
  Engine engine = fake_engine("vllm", {token_op(), prefill_attention(), decode_attention()});
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < 4000; i += 7) {
      step::StepShape s;
      s.prompts = i % 3;
      s.prompt_tokens = 1.5 * i;
      s.prefix = (i % 5) * 100;
      s.decodes = (i * 37) % 1500;
      s.kv_length = 1000 + i % 11;
      s.draft = i % 2;
      const step::StepTime cached = engine.steps.time(s);
      const step::StepTime plain = engine.steps.plan().time(s);
      ASSERT_EQ(cached.total, plain.total) << i;
      ASSERT_EQ(cached.evidence, plain.evidence) << i;
    }
  }
}

}  // namespace
}  // namespace setpoint::serve
