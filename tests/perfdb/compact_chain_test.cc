// SPDX-License-Identifier: Apache-2.0
// A binary without any database answers from the compact model and says so.
#include <gtest/gtest.h>

#include "perfdb/chain.h"
#include "perfdb/compact.h"

namespace setpoint::perfdb {
namespace {

TEST(CompactChain, WithoutADatabaseAnswersComeFromTheCompactModel) {
  const auto h200 = hw::find_system("h200_sxm");
  const Chain chain(nullptr, *h200, "vllm", "", DataMode::hybrid);
  const ops::Op op = ops::Gemm{ops::Quant::bfloat16, 8192, 8192};
  const auto bound = chain.bind(op);
  ASSERT_TRUE(bound.ok());
  const Answer answer = bound->at({4096});
  EXPECT_EQ(answer.source, Source::compact);
  const auto model = CompactModel::embedded()->bind(*h200, "vllm", op);
  EXPECT_EQ(answer.time, model->at({4096}));
  EXPECT_GT(answer.sigma, 0);
}

TEST(CompactChain, AGenerationNobodyMeasuredKeepsTheRoofline) {
  const auto volta = hw::parse_system_spec("volta", "mem=32,bw=900,bf16=125,sm=70");
  const Chain chain(nullptr, *volta, "vllm", "", DataMode::hybrid);
  const auto bound = chain.bind(ops::Gemm{ops::Quant::bfloat16, 8192, 8192});
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->at({4096}).source, Source::roofline);
}

}  // namespace
}  // namespace setpoint::perfdb
