// SPDX-License-Identifier: Apache-2.0
#include "perfdb/perfdb.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace setpoint::perfdb {
namespace {

std::optional<std::filesystem::path> database() {
  if (const char* named = std::getenv("SETPOINT_DB")) return named;
  const std::filesystem::path built = SETPOINT_BINARY_DIR "/share/setpoint/perfdb.db";
  return std::filesystem::exists(built) ? std::optional(built) : std::nullopt;
}

#define SETPOINT_NEEDS_DATABASE() \
  if (!database()) GTEST_SKIP() << "no imported database (scripts/test imports it)"

Result<PerfDb> open(const char* system, const char* framework, const char* version = "",
                    DataMode mode = DataMode::hybrid) {
  return PerfDb::open({*database(), *hw::find_system(system), framework, version, mode});
}

TEST(PerfDb, ResolvesAnUnknownVersionToTheNearestAndSaysSo) {
  SETPOINT_NEEDS_DATABASE();
  const auto current = open("h200_sxm", "vllm");
  ASSERT_TRUE(current.ok());
  EXPECT_EQ(current->version(), "0.24.0");
  EXPECT_FALSE(current->asked());
  const auto other = open("h200_sxm", "vllm", "0.99.0");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->version(), "0.24.0");
  EXPECT_EQ(other->asked(), "0.99.0");
}

// AIConfigurator issue 1479: a snap to the nearest key moved time by 37 % between batch 192 and
// 193. A kernel switch in the table itself may step; between collected batches nothing may.
TEST(PerfDb, MovesSmoothlyOverEveryDecodeBatch) {
  SETPOINT_NEEDS_DATABASE();
  const auto db = open("b200_sxm", "sglang");
  ASSERT_TRUE(db.ok());
  for (const double length : {1000.0, 4096.0, 20000.0}) {
    const auto bound = db->bind(ops::GenerationAttention{32, 8, 128, 0, ops::Quant::bfloat16});
    ASSERT_TRUE(bound.ok());
    double before = bound->at({.batch = 32, .seq = length}).time.value();
    for (double batch = 33; batch <= 1024; ++batch) {
      const double now = bound->at({.batch = batch, .seq = length}).time.value();
      EXPECT_LE(std::abs(now / before - 1), 1 / (batch - 1) + 0.02) << batch << " " << length;
      before = now;
    }
  }
}

TEST(PerfDb, AnswersEveryOperatorOnEverySystemWithAPositiveTime) {
  SETPOINT_NEEDS_DATABASE();
  const ops::Op all[] = {
      ops::Gemm{ops::Quant::bfloat16, 5000, 3333},
      ops::ContextAttention{28, 4, 128, 0, ops::Quant::bfloat16, ops::Quant::bfloat16},
      ops::GenerationAttention{28, 4, 96, 4096, ops::Quant::int8},
      ops::EncoderAttention{16, 80, ops::Quant::bfloat16},
      ops::ContextMla{24, ops::Quant::bfloat16, ops::Quant::bfloat16},
      ops::GenerationMla{24, ops::Quant::bfloat16},
      ops::MlaContextModule{24, 96, ops::Quant::bfloat16, ops::Quant::bfloat16,
                            ops::Quant::bfloat16},
      ops::MlaGenerationModule{24, 96, ops::Quant::bfloat16, ops::Quant::bfloat16,
                               ops::Quant::bfloat16},
      ops::MlaBmm{24, true, ops::Quant::bfloat16},
      ops::Moe{3000, 1000, 5, 60, 2, 4, ops::Quant::bfloat16, true, 1.1},
      ops::CustomAllReduce{4096, 6},
      ops::Collective{ops::CollectiveKind::all_to_all, 4096, 24, ops::Quant::fp8},
      ops::P2p{4096, 2},
      ops::Elementwise{8192},
      ops::Embedding{4096}};
  for (const std::string& name : hw::system_names()) {
    const auto db = open(name.c_str(), "sglang");
    ASSERT_TRUE(db.ok()) << db.error().text;
    for (const ops::Op& op : all) {
      const auto bound = db->bind(op);
      ASSERT_TRUE(bound.ok()) << name << " " << bound.error().text;
      for (const double size : {0.0, 1.0, 37.0, 5000.0, 3e6}) {
        const ops::Point at{size, std::min(size, 4000.0), size, size};
        const double ms = bound->at(at).time.value();
        EXPECT_TRUE(std::isfinite(ms) && ms > 0) << name << " " << ops::family(op) << " " << size;
      }
    }
  }
}

TEST(PerfDb, NamesTheMissingTableInMeasuredMode) {
  SETPOINT_NEEDS_DATABASE();
  const auto db = open("h200_sxm", "sglang", "", DataMode::measured);
  ASSERT_TRUE(db.ok());
  const auto bound = db->bind(ops::Gemm{ops::Quant::w4afp8, 4096, 4096});
  ASSERT_FALSE(bound.ok());
  EXPECT_NE(bound.error().text.find("gemm"), std::string::npos);
  EXPECT_NE(bound.error().text.find("w4afp8"), std::string::npos);
}

TEST(PerfDb, AnswersByRooflineAloneWhenAskedTo) {
  Request request;
  request.system = *hw::find_system("h200_sxm");
  request.framework = "vllm";
  request.mode = DataMode::roofline;
  const auto db = PerfDb::open(request);
  ASSERT_TRUE(db.ok());
  const auto bound = db->bind(ops::Gemm{ops::Quant::bfloat16, 4096, 4096});
  ASSERT_TRUE(bound.ok());
  const Answer a = bound->at({.tokens = 16384});
  EXPECT_EQ(a.source, Source::roofline);
  EXPECT_NEAR(a.time.value(), 2.0 * 16384 * 4096 * 4096 / 989e12 * 1e3, 1e-12);
}

}  // namespace
}  // namespace setpoint::perfdb
