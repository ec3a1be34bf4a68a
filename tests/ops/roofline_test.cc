// SPDX-License-Identifier: Apache-2.0
#include "ops/roofline.h"

#include <gtest/gtest.h>

namespace setpoint::ops {
namespace {

hw::System system(const char* name) { return *hw::find_system(name); }

double ms(const Op& op, const Point& at, const char* gpu) {
  return roofline(op, at, system(gpu)).value();
}

// Values of AIConfigurator 0.12.0 in its SOL mode. It adds RoPE and the cache write of one token to
// prefill attention: 1.1 x (2 (2q + 2k) + 2 x 2 k) bytes, q = 32 x 128, k = 8 x 128.
TEST(Roofline, EqualsTheRivalsSpeedOfLight) {
  constexpr double kRopeAndCacheWrite = 1.1 * 24576 / 7700e9 * 1e3;
  EXPECT_NEAR(ms(Gemm{Quant::fp8, 8192, 2560}, {.tokens = 300}, "b200_sxm"), 0.0031424831168831166,
              1e-15);
  EXPECT_NEAR(ms(Gemm{Quant::bfloat16, 2560, 6144}, {.tokens = 300}, "b200_sxm"),
              0.004763594805194805, 1e-15);
  EXPECT_NEAR(ms(ContextAttention{32, 8, 128, 0, Quant::fp8, Quant::bfloat16},
                 {.batch = 3, .seq = 2222, .prefix = 1000}, "b200_sxm"),
              0.10247214889447619 - kRopeAndCacheWrite, 1e-14);
  EXPECT_NEAR(
      ms(GenerationAttention{32, 8, 128, 0, Quant::fp8}, {.batch = 4, .seq = 3000}, "b200_sxm"),
      0.003199135584415584, 1e-15);
  EXPECT_NEAR(ms(ContextMla{32, Quant::bfloat16, Quant::bfloat16},
                 {.batch = 2, .seq = 5001, .prefix = 7}, "b200_sxm"),
              0.22828386986666668, 1e-14);
  EXPECT_NEAR(
      ms(Moe{6144, 2048, 8, 256, 4, 4, Quant::fp8_block, true, 1.2}, {.tokens = 300}, "b200_sxm"),
      0.07951612675324675, 1e-14);
  EXPECT_NEAR(ms(CustomAllReduce{5120, 8}, {.tokens = 333}, "b200_sxm"), 0.0066304, 1e-12);
}

TEST(Roofline, TakesEachFormatsOwnPeak) {
  // b300: fp4 14,000 and int8 153.5 TFLOP/s; 2 m n k / peak, by hand.
  const Point at{.tokens = 8192};
  const double flop = 2.0 * 8192 * 8192 * 8192;
  EXPECT_NEAR(ms(Gemm{Quant::nvfp4, 8192, 8192}, at, "b300_sxm"), flop / 14000e12 * 1e3, 1e-12);
  EXPECT_NEAR(ms(Gemm{Quant::sq, 8192, 8192}, at, "b300_sxm"), flop / 153.5e12 * 1e3, 1e-12);
}

TEST(Roofline, RefusesAFormatWithoutAPeakAndNamesIt) {
  const Op op = Gemm{Quant::nvfp4, 4096, 4096};
  const auto no = supported(op, system("h200_sxm"));
  ASSERT_FALSE(no.ok());
  EXPECT_NE(no.error().text.find("fp4"), std::string::npos);
  EXPECT_TRUE(supported(op, system("b300_sxm")).ok());
  EXPECT_FALSE(supported(Gemm{Quant::fp8, 64, 64}, system("a100_sxm")).ok());
  // Decode attention with an fp8 cache multiplies in bf16 where there is no fp8 pipe.
  EXPECT_TRUE(supported(GenerationAttention{32, 8, 128, 0, Quant::fp8}, system("a100_sxm")).ok());
}

TEST(Roofline, SendsNothingToNobody) {
  EXPECT_EQ(ms(CustomAllReduce{4096, 1}, {.tokens = 8}, "h200_sxm"), 0);
  EXPECT_EQ(
      ms(Collective{CollectiveKind::all_gather, 4096, 1, Quant::half}, {.tokens = 8}, "h200_sxm"),
      0);
}

TEST(Roofline, UsesAllAdaptersOfANodeBeyondIt) {
  const hw::System h100 = system("h100_sxm");
  EXPECT_DOUBLE_EQ(ring_bw(8, h100).value(), 450e9);
  EXPECT_DOUBLE_EQ(ring_bw(16, h100).value(), 400e9);  // eight adapters of 50 GB/s
  EXPECT_DOUBLE_EQ(ring_bw(64, system("gb200")).value(), 900e9);
}

TEST(Roofline, PassesPipelineStagesOverTheLinkTheyUse) {
  const Point at{.tokens = 1000};  // 14.3 MB
  EXPECT_NEAR(ms(P2p{7168, 2}, at, "h100_sxm"), 14336000.0 / 450e9 * 1e3, 1e-12);
  EXPECT_NEAR(ms(P2p{7168, 16}, at, "h100_sxm"), 14336000.0 / 50e9 * 1e3, 1e-12);
}

}  // namespace
}  // namespace setpoint::ops
