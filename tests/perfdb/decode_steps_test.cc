// SPDX-License-Identifier: Apache-2.0
// One more sequence in a decode batch must not make a step in time that the tables do not hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "ops/roofline.h"
#include "perfdb/perfdb.h"

namespace setpoint::perfdb {
namespace {

constexpr double kStep = 0.02;  // beyond what a proportional law grows by
constexpr int kMostBatch = 1024;

std::optional<std::filesystem::path> database() {
  if (const char* named = std::getenv("SETPOINT_DB")) return named;
  const std::filesystem::path built = SETPOINT_BINARY_DIR "/share/setpoint/perfdb.db";
  if (std::filesystem::exists(built)) return built;
  return std::nullopt;
}

// Batches between two powers of two, which is where the tables have their points.
struct Octave {
  int low, high;
  Answer at_low, at_high;
  // Both ends were collected and the higher takes more than in proportion: another kernel.
  bool switches() const {
    return at_low.source == Source::measured && at_high.source == Source::measured &&
           at_high.time.value() / high > at_low.time.value() / low;
  }
  double line() const {  // ms per sequence
    return (at_high.time - at_low.time).value() / (high - low);
  }
};

// Steps outside of what the law allows, as shares of the time; 0 where none is.
struct Worst {
  double up = 0, down = 0;
  int up_at = 0, down_at = 0, switches = 0;
};

Worst worst_steps(const BoundOp& op, double length) {
  const auto at = [&](int batch) {
    return op.at({.batch = static_cast<double>(batch), .seq = length});
  };
  Worst worst;
  for (int low = 1; low < kMostBatch; low *= 2) {
    const Octave octave{low, 2 * low, at(low), at(2 * low)};
    if (octave.switches()) ++worst.switches;
    for (int batch = low; batch < octave.high; ++batch) {
      const double before = at(batch).time.value();
      const double step = at(batch + 1).time.value() - before;
      double most = before / batch;
      if (octave.switches()) most = std::max(most, octave.line());
      if ((step - most) / before > worst.up) worst.up = (step - most) / before, worst.up_at = batch;
      const double least = std::min(0.0, octave.line());  // measured faster with more sequences
      if ((least - step) / before > worst.down) {
        worst.down = (least - step) / before;
        worst.down_at = batch;
      }
    }
  }
  return worst;
}

TEST(DecodeSteps, ABatchOneLargerMakesNoJumpOnB200Sglang) {
  const auto file = database();
  if (!file) GTEST_SKIP() << "no imported database (scripts/test imports it)";
  const auto db = PerfDb::open({*file, *hw::find_system("b200_sxm"), "sglang", ""});
  ASSERT_TRUE(db.ok()) << db.error().text;
  const ops::Quant bf16 = ops::Quant::bfloat16, fp8 = ops::Quant::fp8;
  const std::vector<ops::GenerationAttention> shapes{
      {32, 8, 128, 0, bf16}, {8, 8, 128, 0, bf16}, {16, 2, 128, 0, fp8}, {64, 8, 128, 0, fp8},
      {5, 1, 128, 0, bf16},  {12, 4, 128, 0, fp8}, {8, 1, 64, 0, bf16},  {64, 8, 64, 128, fp8}};
  int switches = 0, octaves = 0;
  for (const auto& shape : shapes) {
    const auto bound = db->bind(shape);
    ASSERT_TRUE(bound.ok()) << bound.error().text;
    for (const double length : {1, 64, 777, 1024, 4096, 5000, 32768, 131072, 200000}) {
      const Worst s = worst_steps(*bound, length);
      switches += s.switches, octaves += 10;
      const auto where = [&](int batch) {
        return ::testing::Message()
               << shape.heads << "/" << shape.kv_heads << " heads of " << shape.head_dim
               << ", length " << length << ", batch " << batch;
      };
      EXPECT_LE(s.up, kStep) << where(s.up_at);
      EXPECT_LE(s.down, kStep) << where(s.down_at);
    }
  }
  EXPECT_LT(switches, octaves / 10);  // the exception stays one
  std::printf("%d of %d octaves switch kernels\n", switches, octaves);
}

}  // namespace
}  // namespace setpoint::perfdb
