// SPDX-License-Identifier: Apache-2.0
// Expected values are sums written out by hand over the roofline of single operators.
#include "step/step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/roofline.h"
#include "step/knots.h"

namespace setpoint::step {
namespace {

using model::Drive;
using model::Lane;
using model::Phase;

const ops::Gemm kGemm{ops::Quant::bfloat16, 4096, 4096};
const ops::Gemm kExperts{ops::Quant::bfloat16, 8192, 4096};
const ops::Gemm kHead{ops::Quant::bfloat16, 32000, 4096};
const ops::Elementwise kNorm{16384};
const ops::ContextAttention kPrefill{32, 8, 128, 0, ops::Quant::bfloat16, ops::Quant::bfloat16};
const ops::GenerationAttention kDecode{32, 8, 128, 0, ops::Quant::bfloat16};

class StepTest : public ::testing::Test {
 protected:
  static perfdb::PerfDb roofline_db() {
    perfdb::Request request;
    request.system = hw::find_system("h100_sxm").value();
    request.framework = "vllm";
    request.mode = perfdb::DataMode::roofline;
    return perfdb::PerfDb::open(request).value();
  }
  static model::PlanOp op(const char* name, ops::Op shape, double count, Drive drive,
                          Phase phase = Phase::both, Lane lane = Lane::none) {
    model::PlanOp p;
    p.name = name;
    p.op = shape;
    p.count = count;
    p.drive = drive;
    p.phase = phase;
    p.overlap = lane;
    return p;
  }
  static BoundPlan bind(std::vector<model::PlanOp> ops) {
    model::Plan plan;
    plan.ops = std::move(ops);
    return BoundPlan::bind(plan, roofline_db()).value();
  }
  static BoundPlan model_of_everything() {
    return bind({op("norm", kNorm, 64, Drive::tokens), op("up", kGemm, 32, Drive::tokens),
                 op("attention", kPrefill, 32, Drive::prompts, Phase::prefill),
                 op("attention", kDecode, 32, Drive::decodes, Phase::decode),
                 op("prefill_only", kGemm, 3, Drive::tokens, Phase::prefill),
                 op("decode_only", kGemm, 5, Drive::tokens, Phase::decode),
                 op("head", kHead, 1, Drive::samples)});
  }
  // count x one execution at so many tokens.
  static double gemm(const ops::Op& shape, double count, double tokens) {
    return count * ops::roofline(shape, {tokens, 0, 0, 0}, system()).value();
  }
  static double prefill(double count, double batch, double seq, double prefix) {
    return count * ops::roofline(kPrefill, {batch * seq, batch, seq, prefix}, system()).value();
  }
  static double decode(double count, double batch, double kv) {
    return count * ops::roofline(kDecode, {batch, batch, kv, 0}, system()).value();
  }
  static const hw::System& system() {
    static const hw::System h100 = hw::find_system("h100_sxm").value();
    return h100;
  }
  static void expect_close(double value, double expected) {
    EXPECT_NEAR(value, expected, 1e-9 * expected);
  }
};

TEST_F(StepTest, APrefillStepRunsPrefillOperatorsAndSamplesOncePerPrompt) {
  StepShape s;
  s.prompts = 2;
  s.prompt_tokens = 1024;
  s.prefix = 512;
  expect_close(model_of_everything().time(s).total.value(),
               gemm(kNorm, 64, 2048) + gemm(kGemm, 32 + 3, 2048) + prefill(32, 2, 1024, 512) +
                   gemm(kHead, 1, 2));
}

TEST_F(StepTest, ADecodeStepCountsDraftTokensAsTokensSamplesAndQueries) {
  StepShape s;
  s.decodes = 16;
  s.kv_length = 3000;
  s.draft = 3;
  expect_close(
      model_of_everything().time(s).total.value(),
      gemm(kNorm, 64, 64) + gemm(kGemm, 32 + 5, 64) + decode(32, 64, 3000) + gemm(kHead, 1, 64));
}

// Prefill-phase operators see all tokens, both attentions run, every decode and prompt samples.
TEST_F(StepTest, AMixedStepKeepsTheAttentionOfItsDecodes) {
  StepShape s;
  s.prompts = 1;
  s.prompt_tokens = 1000;
  s.decodes = 24;
  s.kv_length = 4500;
  expect_close(model_of_everything().time(s).total.value(),
               gemm(kNorm, 64, 1024) + gemm(kGemm, 32 + 3, 1024) + prefill(32, 1, 1000, 0) +
                   decode(32, 24, 4500) + gemm(kHead, 1, 25));
}

TEST_F(StepTest, OnlyPromptsThatEndInTheStepSample) {
  const BoundPlan plan = bind({op("head", kHead, 1, Drive::samples)});
  StepShape s;
  s.prompts = 8;
  s.prompt_tokens = 128;
  s.sampled_prompts = 4;
  expect_close(plan.time(s).total.value(), gemm(kHead, 1, 4));
  s.sampled_prompts = 0.25;  // one step in four ends a prompt
  expect_close(plan.time(s).total.value(), 0.25 * gemm(kHead, 1, 1));
  s.sampled_prompts = 0;
  EXPECT_EQ(plan.time(s).total.value(), 0);
}

TEST_F(StepTest, LanesOverlapInDecodeStepsOnly) {
  const BoundPlan plan = bind({op("experts", kExperts, 2, Drive::tokens, Phase::both, Lane::routed),
                               op("shared", kGemm, 1, Drive::tokens, Phase::both, Lane::shared),
                               op("norm", kNorm, 1, Drive::tokens)});
  StepShape decode;
  decode.decodes = 32;
  decode.kv_length = 100;
  expect_close(plan.time(decode).total.value(), gemm(kExperts, 2, 32) + gemm(kNorm, 1, 32));
  StepShape prefill;
  prefill.prompts = 1;
  prefill.prompt_tokens = 32;
  expect_close(plan.time(prefill).total.value(),
               gemm(kExperts, 2, 32) + gemm(kGemm, 1, 32) + gemm(kNorm, 1, 32));
  const auto ops = plan.breakdown(decode);
  EXPECT_FALSE(ops[0].hidden);
  EXPECT_TRUE(ops[1].hidden);
}

TEST_F(StepTest, TokensAreScaledAndRoundedUpPerOperator) {
  model::PlanOp experts = op("experts", kGemm, 1, Drive::tokens);
  experts.tokens_times = 8;
  model::PlanOp split = op("split", kGemm, 1, Drive::tokens);
  split.tokens_over = 3;
  StepShape s;
  s.decodes = 10;
  s.kv_length = 100;
  expect_close(bind({experts, split}).time(s).total.value(),
               gemm(kGemm, 1, 80) + gemm(kGemm, 1, 4));
}

// A quarter of a 4096-token prompt attends, on average, to the 1536 tokens outside its own part
// that lie before it: same number of (query, key) pairs as a quarter of the whole.
TEST_F(StepTest, ContextParallelPromptsKeepTheirShareOfPairs) {
  model::PlanOp attention = op("attention", kPrefill, 1, Drive::prompts, Phase::prefill);
  attention.tokens_over = 4;
  StepShape s;
  s.prompts = 1;
  s.prompt_tokens = 4096;
  const double quarter = bind({attention}).time(s).total.value();
  expect_close(quarter, prefill(1, 1, 1024, 1536));
  EXPECT_NEAR(quarter, prefill(1, 1, 4096, 0) / 4, 0.02 * quarter);
}

TEST_F(StepTest, BreakdownSumsToTheStepAndNamesEveryOperator) {
  const BoundPlan plan = model_of_everything();
  StepShape s;
  s.prompts = 3;
  s.prompt_tokens = 777;
  s.decodes = 101;
  s.kv_length = 5001;
  s.draft = 1;
  double sum = 0;
  std::string names;
  for (const OpTime& op : plan.breakdown(s)) {
    sum += op.hidden ? 0 : op.time.value();
    names += op.name + " ";
  }
  const StepTime time = plan.time(s);
  expect_close(sum, time.total.value());
  EXPECT_EQ(names, "norm up attention attention prefill_only head ");
  expect_close(time.evidence.ms[static_cast<std::size_t>(perfdb::Source::roofline)], sum);
}

TEST_F(StepTest, AnEmptyStepCostsNothing) {
  EXPECT_EQ(model_of_everything().time({}).total.value(), 0);
}

TEST(Knots, MeasuredTokenCountsAreKnotsAndIndicesAreContiguous) {
  for (const double n : {1., 3., 48., 64., 96., 768., 1536., 5120., 12288., 20480., 32768.}) {
    EXPECT_EQ(knots_around(n).low, n);
    EXPECT_EQ(knots_around(n).weight, 0);
  }
  std::size_t expected = 1;
  for (double n = 1; n < 1e6; n = knots_around(n).high)
    EXPECT_EQ(knots_around(n).index, expected++);
  const Knots k = knots_around(100.5);
  EXPECT_EQ(k.low, 100);
  EXPECT_EQ(k.high, 101);
  EXPECT_EQ(k.weight, 0.5);
  EXPECT_LT(knots_around(1e300).index, 4096u);
  EXPECT_EQ(knots_around(-5).low, 1);
}

}  // namespace
}  // namespace setpoint::step
