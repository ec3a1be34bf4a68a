// SPDX-License-Identifier: Apache-2.0
// What AIConfigurator 0.12.0 answers, against what we answer from the same tables. On points that
// the tables hold both must be equal; off them our rules differ on purpose (docs/accuracy.md).
// SETPOINT_GOLDEN_OPERATORS names a larger file of the same shape than the fixture.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "golden_operators.h"
#include "ops/roofline.h"
#include "perfdb/perfdb.h"

namespace setpoint::perfdb {
namespace {

constexpr double kEqual = 1e-6;  // the database stores single precision

std::string golden_file() {
  const char* named = std::getenv("SETPOINT_GOLDEN_OPERATORS");
  return named != nullptr ? named : SETPOINT_SOURCE_DIR "/tests/golden/operators.jsonl";
}

std::optional<std::filesystem::path> database() {
  if (const char* named = std::getenv("SETPOINT_DB")) return named;
  const std::filesystem::path built = SETPOINT_BINARY_DIR "/share/setpoint/perfdb.db";
  if (std::filesystem::exists(built)) return built;
  return std::nullopt;
}

// Databases by (system, framework, version), opened once.
class Databases {
 public:
  explicit Databases(std::filesystem::path file) : file_(std::move(file)) {}
  const PerfDb& at(const GoldenQuery& q) {
    const auto name = q.gpu + q.framework + q.version;
    auto found = open_.find(name);
    if (found == open_.end()) {
      auto db = PerfDb::open({file_, *hw::find_system(q.gpu), q.framework, q.version});
      EXPECT_TRUE(db.ok()) << db.error().text;
      found = open_.emplace(name, std::move(*db)).first;
    }
    return found->second;
  }

 private:
  std::filesystem::path file_;
  std::map<std::string, PerfDb> open_;
};

struct Tally {
  int queries = 0, measured = 0, unequal = 0;
  std::vector<double> apart;  // |ours / theirs - 1| off the grid
};

// Queries made from rows of the one table they ask. (Attention queries were made from rows of any
// kernel; the kernel that answers may lack the row.)
bool must_be_collected(const GoldenQuery& q) {
  return q.tag == "gemm-on-grid" || q.tag == "moe-on-grid";
}

TEST(GoldenOperators, CollectedPointsEqualTheTablesOnEveryGpuAndFramework) {
  const auto file = database();
  if (!file) GTEST_SKIP() << "no imported database (scripts/test imports it)";
  Databases databases(*file);
  std::map<std::string, Tally> tallies;
  int on_grid = 0;
  for (const GoldenQuery& q : read_golden(golden_file())) {
    if (q.mode == "roofline") continue;
    const auto bound = databases.at(q).bind(q.op);
    ASSERT_TRUE(bound.ok()) << q.id << " " << bound.error().text;
    double sum = 0;
    Source worst = Source::measured;
    for (const ops::Point& at : q.at) {
      const Answer a = bound->at(at);
      sum += a.time.value();
      worst = std::max(worst, a.source);
    }
    const double ms = sum / static_cast<double>(q.at.size());
    const double apart = std::abs(ms / q.ms - 1);
    Tally& tally = tallies[std::string(ops::family(q.op)) + " " + q.tag];
    ++tally.queries;
    EXPECT_TRUE(std::isfinite(ms) && ms > 0) << q.id;
    if (worst == Source::measured) {
      ++tally.measured;
      ++on_grid;
      if (apart > kEqual) ++tally.unequal;
      EXPECT_LE(apart, kEqual) << q.id << " " << q.tag << " " << q.gpu << " " << q.framework << ": "
                               << ms << " ms, golden " << q.ms;
    } else {
      EXPECT_FALSE(must_be_collected(q)) << q.id << " " << q.gpu << " " << q.framework;
      tally.apart.push_back(apart);
    }
  }
  EXPECT_GT(on_grid, 100);
  for (auto& [name, tally] : tallies) {
    std::sort(tally.apart.begin(), tally.apart.end());
    const double median = tally.apart.empty() ? 0 : tally.apart[tally.apart.size() / 2];
    std::printf("%-45s %5d queries %5d collected %3d unequal; others %5.1f %% apart (median)\n",
                name.c_str(), tally.queries, tally.measured, tally.unequal, 100 * median);
  }
}

TEST(GoldenOperators, RooflinesEqualTheRivalsWithinANode) {
  for (const GoldenQuery& q : read_golden(golden_file())) {
    if (q.mode != "roofline") continue;
    // Our roofline of a module counts its projections, and a ring beyond the node uses every
    // adapter; the rival's do not.
    if (std::holds_alternative<ops::MlaGenerationModule>(q.op)) continue;
    if (const auto* c = std::get_if<ops::Collective>(&q.op); c != nullptr && c->ranks > 4) continue;
    if (const auto* c = std::get_if<ops::CustomAllReduce>(&q.op); c != nullptr && c->ranks > 4) {
      continue;
    }
    const double ms = ops::roofline(q.op, q.at.front(), *hw::find_system(q.gpu)).value();
    // The rival's expert work is in whole tokens and whole experts.
    const double tolerance = std::holds_alternative<ops::Moe>(q.op) ? 0.02 : 1e-12;
    EXPECT_NEAR(ms, q.ms, q.ms * tolerance) << q.id << " " << q.tag;
  }
}

}  // namespace
}  // namespace setpoint::perfdb
