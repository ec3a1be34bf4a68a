// SPDX-License-Identifier: Apache-2.0
// The converter on a small package of our own (package.py). Needs a Python with pyarrow, numpy and
// PyYAML: $SETPOINT_PYTHON, else the one that scripts/import-tables has made.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/process.h"
#include "perfdb/import.h"
#include "perfdb/store.h"
#include "perfdb_scratch.h"

namespace setpoint::perfdb {
namespace {

constexpr const char* kSystem = "h200_sxm";

class Convert : public Scratch {
 protected:
  void SetUp() override {
    const char* const given = std::getenv("SETPOINT_PYTHON");
    python_ = given != nullptr ? given : SETPOINT_BINARY_DIR "/python/bin/python";
    if (!std::filesystem::exists(python_)) {
      GTEST_SKIP() << python_ << ": no Python with pyarrow, numpy and PyYAML";
    }
    ::setenv("SETPOINT_PYTHON", python_.c_str(), 1);
    ::setenv("XDG_CACHE_HOME", at("cache").c_str(), 1);
    const auto made = base::run_program(
        {python_, SETPOINT_SOURCE_DIR "/tests/perfdb/package.py", at("pkg").string()});
    ASSERT_TRUE(made.ok() && made->exit_code == 0);
  }
  Store converted() const {
    const auto summary = import_packages(at("p.db"), {at("pkg").string()});
    EXPECT_TRUE(summary.ok()) << summary.error().text;
    auto store = Store::open(at("p.db"));
    EXPECT_TRUE(store.ok()) << store.error().text;
    return std::move(store).value();
  }
  // The only table of an operator and framework (of a version, where one is given).
  static SourceInfo source(const Store& store, const char* op, const std::string& version) {
    const auto all = store.sources(kSystem, op);
    for (const SourceInfo& one : *all) {
      if (one.provenance.version == version) return one;
    }
    ADD_FAILURE() << op << " " << version;
    return {};
  }
  static std::vector<Slice> slices(const Store& store, const char* op, const std::string& version) {
    const SourceInfo from = source(store, op, version);
    const auto heads = store.heads(from);
    std::vector<Slice> all;
    for (const SliceHead& head : *heads) all.push_back(*store.read(from, head));
    return all;
  }
  std::string python_;
};

TEST_F(Convert, BadRowsAreCountedDuplicatesCountedAndFilteredRowsLeftOut) {
  const Store store = converted();
  const SourceInfo gemm = source(store, "gemm", "0.24.0");
  EXPECT_EQ(gemm.provenance.snapshot, "pkg 1.2.3");
  EXPECT_EQ(gemm.rows_read, 8);
  EXPECT_EQ(gemm.rows_rejected, 4);
  EXPECT_EQ(gemm.duplicates, 1);
  EXPECT_EQ(gemm.rows_filtered, 1);
  EXPECT_EQ(gemm.rows_kept, 2);
  const auto all = slices(store, "gemm", "0.24.0");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].axes[1].coordinates, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(all[0].latency_ms, (std::vector<float>{0.5f, 0.75f}));  // the first of two rows
  EXPECT_EQ(slices(store, "dsa_generation_module", "0.24.0")[0].latency_ms,
            std::vector<float>{0.75f});  // here the last
}

TEST_F(Convert, ZeroStaysWhereTheOperatorAllowsIt) {
  const auto all = slices(converted(), "computescale", "0.24.0");
  EXPECT_EQ(all.at(0).latency_ms, (std::vector<float>{0.0f, 0.5f}));
}

TEST_F(Convert, ATextColumnOfNumbersIsReadAndItsBadRowRejectedAFileWithoutAColumnIsLeftOut) {
  const Store store = converted();
  EXPECT_EQ(source(store, "gemm", "0.5.14").rows_kept, 1);
  EXPECT_EQ(source(store, "gemm", "0.5.14").rows_rejected, 1);
  const auto all = store.sources(kSystem, "gemm");
  for (const SourceInfo& one : *all) {
    EXPECT_NE(one.provenance.version, "0.5.13");
  }
}

TEST_F(Convert, MultiHeadAttentionIsOneSliceAndAMissingWindowIsZero) {
  const auto all = slices(converted(), "generation_attention", "0.24.0");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].keys[1].second, "0");
  EXPECT_EQ(all[0].keys[3].second, "0");
  EXPECT_EQ(all[0].axes[0].coordinates, (std::vector<std::int64_t>{16, 32}));
  EXPECT_EQ(all[0].axes[2].coordinates, std::vector<std::int64_t>{1024});  // isl + step
  EXPECT_EQ(all[1].keys[1].second, "8");
}

TEST_F(Convert, OneFileMayFeedSeveralFamilies) {
  const Store store = converted();
  EXPECT_EQ(slices(store, "moe", "1.0.0").at(0).latency_ms, std::vector<float>{0.5f});
  EXPECT_EQ(slices(store, "moe_low_latency", "1.0.0").at(0).latency_ms, std::vector<float>{0.25f});
  const auto sources = store.sources(kSystem, "moe_a2a");
  ASSERT_EQ(sources->size(), 2u);  // dispatch and combine
  const Slice dispatch = *store.read(sources->at(0), store.heads(sources->at(0))->at(0));
  EXPECT_EQ(dispatch.keys[1].second, "dispatch");
  EXPECT_EQ(dispatch.latency_ms, std::vector<float>{0.025f});  // 25 microseconds
  EXPECT_EQ(dispatch.axes[0].coordinates, (std::vector<std::int64_t>{16, 2, 64, 2, 16}));
}

TEST_F(Convert, EagerAllReducesAreLeftOut) {
  const auto all = slices(converted(), "custom_allreduce", "0.24.0");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kernel, "vLLM_custom_graph");
}

TEST_F(Convert, SourcesComeInTheOrderThatThePackageDeclares) {
  const Store store = converted();
  const auto slots = store.slots(kSystem, "vllm");
  ASSERT_TRUE(slots.ok() && slots->has_value());
  EXPECT_EQ((*slots)->current, "0.23.0");
  EXPECT_EQ((*slots)->next, "0.24.0");
  EXPECT_EQ((*store.slots("b60", "vllm"))->previous, "0.0.9");
  EXPECT_EQ((*store.slots("b60", "vllm"))->next, "");
  const auto ordered = ordered_sources(store, kSystem, "vllm", "0.23.0", "gemm");
  ASSERT_TRUE(ordered.ok());
  ASSERT_EQ(ordered->size(), 3u);
  EXPECT_EQ(ordered->at(0).source.provenance.version, "0.23.0");
  EXPECT_EQ(ordered->at(1).source.provenance.version, "0.24.0");  // a reuse note
  EXPECT_EQ(ordered->at(2).source.provenance.framework, "trtllm");
  EXPECT_TRUE(ordered->at(2).admits("shared"));
  EXPECT_FALSE(ordered->at(2).admits("own"));
  EXPECT_EQ(store.default_lane("vllm", "0.23.0", 90)->value_or(""), "old");
  EXPECT_EQ(store.default_lane("vllm", "0.24.1", 90)->value_or(""), "fa3");
  EXPECT_FALSE(store.default_lane("vllm", "0.19.0", 90)->has_value());
}

TEST_F(Convert, OwnMeasurementsSurviveANewImportOfThePackage) {
  converted();
  const auto csv = write("mine.csv",
                         "op,system,framework,version,gemm_dtype,n,k,m,latency_ms\n"
                         "gemm,h200_sxm,vllm,0.23.0,fp8,64,32,2,0.5\n");
  ASSERT_TRUE(import_csv(at("p.db"), csv).ok());
  const std::size_t before = Store::open(at("p.db"))->sources("", "")->size();
  const Store store = converted();
  EXPECT_EQ(store.sources("", "")->size(), before);
  const auto ordered = ordered_sources(store, kSystem, "vllm", "0.23.0", "gemm");
  EXPECT_EQ(ordered->at(0).source.provenance.snapshot, "csv mine.csv");
  EXPECT_EQ(
      store.read(ordered->at(0).source, store.heads(ordered->at(0).source)->at(0))->latency_ms,
      std::vector<float>{0.5f});
}

TEST_F(Convert, AnInterruptedImportLeavesTheOldFileWhole) {
  converted();
  const std::string before = read(at("p.db"));
  // A table that never ends: the converter waits for it until it is stopped.
  const std::string endless = at("pkg").string() + "/systems/data/h200_sxm/gemm/vllm/0.25.0";
  std::filesystem::create_directories(endless);
  ASSERT_EQ(::mkfifo((endless + "/gemm_perf.parquet").c_str(), 0600), 0);
  const std::string scripts = at("cache").string() + "/setpoint/converter/";
  const auto stopped = base::run_program({"timeout", "4", python_, scripts + "convert.py", "--ops",
                                          scripts + "ops.json", "--schema", scripts + "schema.sql",
                                          "--out", at("p.db").string(), at("pkg").string()});
  ASSERT_TRUE(stopped.ok());
  EXPECT_NE(stopped->exit_code, 0);
  EXPECT_EQ(read(at("p.db")), before);
  EXPECT_EQ(files(), 3u);  // the package, the cache, the database
}

TEST_F(Convert, AFolderWithoutTablesIsBadInput) {
  std::filesystem::create_directories(at("empty"));
  const auto none = import_packages(at("p.db"), {at("empty").string()});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::bad_input);
  EXPECT_EQ(import_packages(at("p.db"), {write("x.whl", "no wheel").string()}).error().code,
            ErrorCode::bad_input);
  EXPECT_FALSE(std::filesystem::exists(at("p.db")));
}

}  // namespace
}  // namespace setpoint::perfdb
