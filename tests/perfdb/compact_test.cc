// SPDX-License-Identifier: Apache-2.0
// The compact model against measured points it must be near, and against damaged files.
#include "perfdb/compact.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/embedded.h"
#include "base/file.h"
#include "ops/roofline.h"

namespace setpoint::perfdb {
namespace {

using Fields = std::vector<std::string>;

// One line of tests/golden/compact_points.csv.
struct Measured {
  std::string family, system, framework;
  ops::Op op;
  ops::Point at;
  double ms = 0;
};

ops::Quant quant(const std::string& name) { return ops::parse_quant(name).value(); }
std::int64_t whole(const std::string& text) { return std::stoll(text); }

// Columns after family, system, framework, in the order of the comment beside each family.
void read_shape(const Fields& f, Measured& m) {
  const auto n = [&](std::size_t i) { return whole(f[i]); };
  const auto x = [&](std::size_t i) { return std::stod(f[i]); };
  if (m.family == "gemm") {  // format m n k
    m.op = ops::Gemm{quant(f[0]), n(2), n(3)};
    m.at = {x(1)};
  } else if (m.family == "context_attention") {  // format kv head window heads kv_heads seq batch
    m.op = ops::ContextAttention{n(4), n(5), n(2), n(3), quant(f[1]), quant(f[0])};
    m.at = {0, x(7), x(6)};
  } else if (m.family == "generation_attention") {  // kv head window heads kv_heads batch seq
    m.op = ops::GenerationAttention{n(3), n(4), n(1), n(2), quant(f[0])};
    m.at = {0, x(5), x(6)};
  } else if (m.family == "context_mla") {  // format kv heads seq batch
    m.op = ops::ContextMla{n(2), quant(f[1]), quant(f[0])};
    m.at = {0, x(4), x(3)};
  } else if (m.family == "generation_mla") {  // kv heads batch seq
    m.op = ops::GenerationMla{n(1), quant(f[0])};
    m.at = {0, x(2), x(3)};
  } else if (m.family == "mla_context_module") {  // format kv gemm heads seq batch
    m.op = ops::MlaContextModule{n(3), 128, quant(f[2]), quant(f[1]), quant(f[0])};
    m.at = {0, x(5), x(4)};
  } else if (m.family == "mla_generation_module") {  // format kv gemm heads batch seq
    m.op = ops::MlaGenerationModule{n(3), 128, quant(f[2]), quant(f[1]), quant(f[0])};
    m.at = {0, x(4), x(5)};
  } else if (m.family == "mla_bmm") {  // format stage heads batch
    m.op = ops::MlaBmm{n(2), f[1] == "mla_gen_pre", quant(f[0])};
    m.at = {0, x(3)};
  } else if (m.family == "moe") {  // gate format topk experts hidden inter tp ep tokens alpha
    m.op = ops::Moe{n(4), n(5), n(2), n(3), n(6), n(7), quant(f[1]), f[0] == "gated", x(9)};
    m.at = {x(8)};
  } else if (m.family == "custom_allreduce") {  // ranks elements
    m.op = ops::CustomAllReduce{1, n(0)};
    m.at = {x(1)};
  } else {  // kind format ranks elements
    ASSERT_EQ(m.family, "nccl");
    const auto kind = std::find(ops::kCollectiveNames.begin(), ops::kCollectiveNames.end(), f[0]);
    ASSERT_NE(kind, ops::kCollectiveNames.end());
    m.op = ops::Collective{static_cast<ops::CollectiveKind>(kind - ops::kCollectiveNames.begin()),
                           1, n(2), quant(f[1])};
    m.at = {x(3)};
  }
}

std::vector<Measured> measured_points() {
  std::ifstream in(SETPOINT_SOURCE_DIR "/tests/golden/compact_points.csv");
  std::vector<Measured> points;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    Fields fields;
    for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
    Measured m{fields[0], fields[1], fields[2], {}, {}, std::stod(fields.back())};
    read_shape({fields.begin() + 3, fields.end() - 1}, m);
    points.push_back(std::move(m));
  }
  return points;
}

const CompactModel& model() {
  const auto& embedded = CompactModel::embedded();
  EXPECT_TRUE(embedded.ok()) << (embedded.ok() ? "" : embedded.error().text);
  return *embedded;
}

// Mean error over all rows of a family, docs/accuracy-compact.md.
struct Stated {
  std::string_view family;
  double mean;
};
constexpr std::array kStated{Stated{"gemm", 0.074},
                             Stated{"context_attention", 0.066},
                             Stated{"generation_attention", 0.093},
                             Stated{"context_mla", 0.055},
                             Stated{"generation_mla", 0.070},
                             Stated{"mla_context_module", 0.041},
                             Stated{"mla_generation_module", 0.040},
                             Stated{"mla_bmm", 0.049},
                             Stated{"moe", 0.111},
                             Stated{"custom_allreduce", 0.038},
                             Stated{"nccl", 0.034}};
// The mean of 40 points scatters around the mean of all; errors spread about 1.5 times their mean.
constexpr double kSampling = 1.75;

TEST(Compact, MeasuredPointsAreMetWithinTheStatedErrorOfTheirFamily) {
  std::map<std::string, std::vector<double>> errors;
  for (const Measured& m : measured_points()) {
    const auto system = hw::find_system(m.system);
    ASSERT_TRUE(system.ok());
    const auto bound = model().bind(*system, m.framework, m.op);
    ASSERT_TRUE(bound) << m.family << " " << m.system << " " << m.framework;
    EXPECT_FALSE(bound->borrowed()) << m.family << " " << m.system << " " << m.framework;
    errors[m.family].push_back(std::abs(bound->at(m.at).value() / m.ms - 1));
  }
  ASSERT_EQ(errors.size(), kStated.size());
  for (const Stated& stated : kStated) {
    const auto& of_family = errors[std::string(stated.family)];
    ASSERT_EQ(of_family.size(), 40u);
    double mean = 0;
    for (const double e : of_family) mean += e / static_cast<double>(of_family.size());
    std::printf("%-22s %4.1f %% (all rows %4.1f %%)\n", stated.family.data(), 100 * mean,
                100 * stated.mean);
    EXPECT_LE(mean, stated.mean * kSampling) << stated.family;
  }
}

// Folding at bind time changes the speed only.
TEST(Compact, BoundAnswersEqualTheSetEvaluatedInFull) {
  for (const Measured& m : measured_points()) {
    const auto system = hw::find_system(m.system);
    const auto bound = model().bind(*system, m.framework, m.op);
    ASSERT_TRUE(bound);
    const auto& form = compact::forms()[bound->set().family];
    const double value =
        compact::value(bound->set(), compact::coordinates(form, compact::fixed_of(m.op), m.at));
    const double ms =
        (bound->set().floor_ms + ops::roofline(m.op, m.at, *system).value()) / std::exp(value);
    EXPECT_NEAR(bound->at(m.at).value() / ms, 1, 1e-9) << m.family;
  }
}

TEST(Compact, FileStaysBelow200kBAndRereadsToTheSameBytes) {
  const auto file = base::embedded_file("perfdb/compact.bin");
  ASSERT_TRUE(file);
  EXPECT_LT(file->size(), 200'000u);
  const auto blob = compact::decode(*file);
  ASSERT_TRUE(blob.ok()) << blob.error().text;
  EXPECT_GT(blob->sets.size(), 1000u);
  EXPECT_EQ(compact::encode(*blob), *file);
}

TEST(Compact, EveryDamageIsRefused) {
  const std::string good(*base::embedded_file("perfdb/compact.bin"));
  for (std::size_t size = 0; size < good.size(); size = size < 64 ? size + 1 : size * 3 / 2) {
    EXPECT_FALSE(CompactModel::read(std::string_view(good).substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(CompactModel::read(good + "x").ok());
  for (std::size_t at = 0; at < good.size(); at += at < 2000 ? 1 : 997) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    EXPECT_FALSE(CompactModel::read(bad).ok()) << at;
  }
}

// Damage below the checksum: counts, names and families that point nowhere.
TEST(Compact, NonsenseWithARightChecksumIsRefused) {
  const auto with_checksum = [](std::string bytes) {
    std::uint32_t hash = 2166136261u;
    for (std::size_t i = 9; i < bytes.size(); ++i) {
      hash = (hash ^ static_cast<std::uint8_t>(bytes[i])) * 16777619u;
    }
    for (std::size_t i = 0; i < 4; ++i) bytes[5 + i] = static_cast<char>(hash >> (8 * i));
    return bytes;
  };
  compact::Set set;
  set.system = "h200_sxm";
  set.framework = "vllm";
  set.coefficients.assign(compact::forms()[0].size(), 1);
  const std::string good = compact::encode({"origin", {set}});
  ASSERT_TRUE(compact::decode(with_checksum(good)).ok());
  int refused = 0;
  for (std::size_t at = 9; at < good.size() - set.coefficients.size(); ++at) {
    std::string bad = good;
    bad[at] = '\xff';
    const auto read = CompactModel::read(with_checksum(bad));
    if (!read.ok()) {
      ++refused;
      EXPECT_EQ(read.error().text.find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(refused, 200);  // all but the numbers and letters of names that stay well-formed
}

TEST(Compact, SisterSystemAnswersForOneWithoutTables) {
  const auto pcie = hw::find_system("h100_pcie");
  ASSERT_TRUE(pcie.ok());
  const ops::Op op = ops::Gemm{ops::Quant::bfloat16, 8192, 8192};
  const auto bound = model().bind(*pcie, "vllm", op);
  ASSERT_TRUE(bound);
  EXPECT_TRUE(bound->borrowed());
  EXPECT_EQ(bound->set().system, "h100_sxm");  // same capability; bandwidth nearer than H200's
  EXPECT_EQ(bound->set().framework, "vllm");
  const auto own = model().bind(*hw::find_system("h100_sxm"), "vllm", op);
  EXPECT_GT(bound->sigma(), own->sigma());
  // Same efficiency on a lower roofline: slower, and never faster than its own roofline.
  EXPECT_GT(bound->at({4096}), own->at({4096}));
  EXPECT_GT(bound->at({4096}), ops::roofline(op, {4096}, *pcie));
}

TEST(Compact, ForeignFrameworkHeadSizeAndFormatBorrowTheNearest) {
  const auto h200 = hw::find_system("h200_sxm");
  const auto odd =
      model().bind(*h200, "vllm", ops::GenerationAttention{32, 8, 120, 0, ops::Quant::bfloat16});
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->set().key[2], "128");
  const auto foreign = model().bind(*h200, "other", ops::Gemm{ops::Quant::fp8, 4096, 4096});
  ASSERT_TRUE(foreign);
  EXPECT_TRUE(foreign->borrowed());
  const auto fp8_message = model().bind(
      *h200, "vllm", ops::Collective{ops::CollectiveKind::all_gather, 4096, 8, ops::Quant::fp8});
  ASSERT_TRUE(fp8_message);
  EXPECT_FALSE(fp8_message->borrowed());  // one byte an element, like the measured int8
}

TEST(Compact, NothingIsNearAnUnknownGeneration) {
  const auto system = hw::parse_system_spec("mine", "mem=48,bw=700,bf16=150,sm=70");
  ASSERT_TRUE(system.ok());
  EXPECT_FALSE(model().bind(*system, "vllm", ops::Gemm{ops::Quant::bfloat16, 4096, 4096}));
  EXPECT_FALSE(model().bind(*hw::find_system("h200_sxm"), "vllm", ops::Elementwise{100}));
}

TEST(Compact, AnswersAreFiniteAndPositiveFarOutsideTheTables) {
  const auto h200 = hw::find_system("h200_sxm");
  const ops::Op all[] = {ops::Gemm{ops::Quant::fp8, 7, 1000000},
                         ops::ContextAttention{128, 1, 128, 0},
                         ops::GenerationAttention{1, 1, 128, 1024, ops::Quant::bfloat16},
                         ops::Moe{7168, 2048, 8, 256, 1, 256, ops::Quant::fp8_block, true, 3},
                         ops::CustomAllReduce{16384, 64},
                         ops::MlaBmm{3, true, ops::Quant::bfloat16}};
  for (const ops::Op& op : all) {
    const auto bound = model().bind(*h200, "trtllm", op);
    ASSERT_TRUE(bound) << ops::family(op);
    for (const double size : {0.0, 0.5, 1.0, 33.5, 1e6, 1e9}) {
      const double ms = bound->at({size, size, size, size}).value();
      EXPECT_TRUE(std::isfinite(ms) && ms > 0) << ops::family(op) << " " << size;
    }
  }
}

// The shipped model is what the tool makes of the imported tables, and it makes it again.
TEST(Compact, ToolIsDeterministicAndMakesTheShippedModel) {
  const char* given = std::getenv("SETPOINT_DB");
  const std::string db = given ? given : SETPOINT_BINARY_DIR "/share/setpoint/perfdb.db";
  if (!std::filesystem::exists(db)) GTEST_SKIP() << "no imported database at " << db;
  const auto made = [&](const std::string& name) {
    const std::string out = testing::TempDir() + name;
    const std::string command =
        std::string(SETPOINT_BINARY_DIR "/bin/fit_compact") + " --db " + db + " --out " + out;
    EXPECT_EQ(std::system(command.c_str()), 0);
    return base::read_file(out).value();
  };
  const std::string first = made("compact_a.bin");
  EXPECT_EQ(first, made("compact_b.bin"));
  const auto again = CompactModel::read(first);
  ASSERT_TRUE(again.ok()) << again.error().text;
  if (again->origin() != model().origin()) GTEST_SKIP() << "tables of " << again->origin();
  EXPECT_EQ(again->sets().size(), model().sets().size());
  for (const Measured& m : measured_points()) {
    const auto system = hw::find_system(m.system);
    const auto fresh = again->bind(*system, m.framework, m.op);
    const auto shipped = model().bind(*system, m.framework, m.op);
    ASSERT_TRUE(fresh && shipped) << m.family;
    // Another compiler may round a coefficient to its neighbour.
    EXPECT_NEAR(fresh->at(m.at) / shipped->at(m.at), 1, 0.05) << m.family << " " << m.system;
  }
}

// The hot path: an answer is a function of its point alone, whatever was asked in between.
TEST(Compact, AnAnswerDependsOnItsPointAlone) {
  const auto h200 = hw::find_system("h200_sxm");
  const auto gemm = model().bind(*h200, "vllm", ops::Gemm{ops::Quant::fp8, 8192, 8192});
  const auto moe = model().bind(
      *h200, "vllm", ops::Moe{4096, 1536, 8, 128, 1, 8, ops::Quant::fp8_block, true, 1.2});
  ASSERT_TRUE(gemm && moe);
  for (const auto& bound : {*gemm, *moe}) {
    std::vector<double> upwards;
    for (int tokens = 1; tokens <= 8192; ++tokens) {
      upwards.push_back(bound.at({static_cast<double>(tokens)}).value());
      ASSERT_TRUE(std::isfinite(upwards.back()) && upwards.back() > 0) << tokens;
    }
    for (int tokens = 8192; tokens >= 1; --tokens) {
      ASSERT_EQ(bound.at({static_cast<double>(tokens)}).value(), upwards[std::size_t(tokens - 1)]);
    }
  }
}

}  // namespace
}  // namespace setpoint::perfdb
