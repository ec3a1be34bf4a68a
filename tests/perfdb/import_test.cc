// SPDX-License-Identifier: Apache-2.0
#include "perfdb/import.h"

#include <gtest/gtest.h>

#include <cmath>

#include "perfdb/store.h"
#include "perfdb/verify.h"
#include "perfdb_scratch.h"

namespace setpoint::perfdb {
namespace {

constexpr const char* kTwoOperators =
    "op,system,framework,version,kernel,gemm_dtype,n,k,m,"
    "kind,dtype,ranks,elements,latency_ms\n"
    "gemm,h200_sxm,vllm,0.24.0,cutlass,fp8,64,32,1,,,,,0.5\n"
    "gemm,h200_sxm,vllm,0.24.0,cutlass,fp8,64,32,4,,,,,0.45\n"
    "gemm,h200_sxm,vllm,0.24.0,cutlass,fp8,128,32,4,,,,,0.75\n"
    "gemm,h200_sxm,vllm,0.24.0,deepgemm,fp8,128,32,8,,,,,0.875\n"
    "gemm,h200_sxm,vllm,0.23.0,cutlass,fp8,128,32,8,,,,,0.9\n"
    "nccl,h200_sxm,nccl,2.27.3,,,,,,all_gather,half,8,1024,0.01\n";

using Import = Scratch;

Store open(const std::filesystem::path& file) {
  auto store = Store::open(file);
  EXPECT_TRUE(store.ok()) << store.error().text;
  return std::move(store).value();
}

TEST_F(Import, WhatIsImportedIsReadBack) {
  ASSERT_TRUE(import_csv(at("p.db"), write("mine.csv", kTwoOperators)).ok());
  const Store store = open(at("p.db"));
  EXPECT_EQ(*store.systems(), std::vector<std::string>{"h200_sxm"});
  const auto sources = store.sources("h200_sxm", "gemm");
  ASSERT_TRUE(sources.ok());
  ASSERT_EQ(sources->size(), 2u);
  const SourceInfo& newest = sources->at(1);
  EXPECT_EQ(newest.provenance.snapshot, "csv mine.csv");
  EXPECT_EQ(newest.provenance.version, "0.24.0");
  EXPECT_EQ(newest.rows_kept, 4);
  const auto heads = store.heads(newest);
  ASSERT_TRUE(heads.ok());
  ASSERT_EQ(heads->size(), 2u);
  EXPECT_EQ(heads->at(0).kernel, "cutlass");
  EXPECT_EQ(heads->at(0).keys, std::vector<std::string>{"fp8"});
  const auto slice = store.read(newest, heads->at(0));
  ASSERT_TRUE(slice.ok());
  EXPECT_EQ(slice->axes[0].columns, (std::vector<std::string>{"n", "k"}));
  EXPECT_EQ(slice->latency_ms[1], 0.45f);
  EXPECT_TRUE(std::isnan(slice->latency_ms[2]));
  EXPECT_EQ(slice->latency_ms[3], 0.75f);
}

TEST_F(Import, BadLinesAreCountedWithTheSourceAndReported) {
  const auto csv =
      import_csv(at("p.db"), write("mine.csv",
                                   "op,system,framework,version,gemm_dtype,n,k,m,latency_ms\n"
                                   "gemm,h200_sxm,vllm,0.24.0,fp8,64,32,1,nan\n"
                                   "gemm,h200_sxm,vllm,0.24.0,fp8,64,32,2,0.5\n"));
  ASSERT_TRUE(csv.ok());
  EXPECT_EQ(csv->rejected.at(0).line, 2);
  const Store store = open(at("p.db"));
  const auto sources = store.sources("", "");
  EXPECT_EQ(sources->at(0).rows_rejected, 1);
  EXPECT_EQ(sources->at(0).rows_read, 2);
}

TEST_F(Import, AFileWithoutAGoodLineLeavesTheDatabaseAsItWas) {
  ASSERT_TRUE(import_csv(at("p.db"), write("mine.csv", kTwoOperators)).ok());
  const std::string before = read(at("p.db"));
  const auto csv =
      import_csv(at("p.db"), write("bad.csv",
                                   "op,system,framework,version,gemm_dtype,n,k,m,latency_ms\n"
                                   "gemm,h200_sxm,vllm,0.24.0,fp8,64,32,1,nan\n"));
  ASSERT_FALSE(csv.ok());
  EXPECT_EQ(csv.error().code, ErrorCode::bad_input);
  EXPECT_NE(csv.error().text.find("line 2: latency_ms \"nan\""), std::string::npos);
  EXPECT_EQ(read(at("p.db")), before);
  EXPECT_EQ(files(), 3u);  // no temporary file left
}

TEST_F(Import, ImportingAFileAgainReplacesItAndKeepsOthers) {
  ASSERT_TRUE(import_csv(at("p.db"), write("a.csv", kTwoOperators)).ok());
  ASSERT_TRUE(import_csv(at("p.db"), write("b.csv", kTwoOperators)).ok());
  EXPECT_EQ(open(at("p.db")).sources("", "")->size(), 6u);
  ASSERT_TRUE(
      import_csv(at("p.db"), write("a.csv",
                                   "op,system,framework,version,gemm_dtype,n,k,m,latency_ms\n"
                                   "gemm,h200_sxm,vllm,0.24.0,fp8,64,32,2,0.5\n"))
          .ok());
  const Store store = open(at("p.db"));
  EXPECT_EQ(store.sources("", "")->size(), 4u);
  const auto sources = store.sources("h200_sxm", "gemm");
  EXPECT_EQ(sources->at(1).provenance.snapshot, "csv a.csv");  // the newest import first
  const auto verified = verify(store);
  ASSERT_TRUE(verified.ok());
  EXPECT_TRUE(verified->faults.empty());
}

TEST_F(Import, AnOpenDatabaseKeepsItsContentWhileAnotherIsImported) {
  ASSERT_TRUE(import_csv(at("p.db"), write("a.csv", kTwoOperators)).ok());
  const Store before = open(at("p.db"));
  ASSERT_TRUE(import_csv(at("p.db"), write("b.csv", kTwoOperators)).ok());
  EXPECT_EQ(before.sources("", "")->size(), 3u);
  EXPECT_EQ(open(at("p.db")).sources("", "")->size(), 6u);
}

TEST_F(Import, AForeignTruncatedOrNewerFileIsOneClearLine) {
  ASSERT_TRUE(import_csv(at("p.db"), write("a.csv", kTwoOperators)).ok());
  const std::string whole = read(at("p.db"));
  EXPECT_NE(Store::open(at("none.db")).error().text.find("No such file"), std::string::npos);
  const std::string_view view(whole);
  std::string foreign = whole, newer = whole;
  foreign[68] = 'x';  // the application id of the SQLite header
  newer[63] = 2;      // its user version
  const struct {
    std::string_view content;
    const char* says;
  } cases[] = {{"", "not a PerfDatabase"},
               {"op,system,framework\n", "not a PerfDatabase"},
               {view.substr(0, 99), "not a PerfDatabase"},
               {foreign, "not a PerfDatabase"},
               {newer, "has schema version 2, this program reads version 1"},
               {view.substr(0, whole.size() / 2), "truncated"}};
  for (const auto& one : cases) {
    const auto store = Store::open(write("x.db", one.content));
    ASSERT_FALSE(store.ok()) << one.says;
    EXPECT_EQ(store.error().code, ErrorCode::bad_input);
    EXPECT_NE(store.error().text.find(one.says), std::string::npos) << store.error().text;
    EXPECT_EQ(store.error().text.find('\n'), std::string::npos);
    EXPECT_FALSE(import_csv(at("x.db"), at("a.csv")).ok());
  }
}

TEST_F(Import, ADamagedDatabaseNeverCrashesAReader) {
  ASSERT_TRUE(import_csv(at("p.db"), write("a.csv", kTwoOperators)).ok());
  const std::string whole = read(at("p.db"));
  for (std::size_t at_byte = 100; at_byte < whole.size(); at_byte += 61) {
    std::string damaged = whole;
    for (std::size_t i = at_byte; i < std::min(at_byte + 8, whole.size()); ++i) {
      damaged[i] = static_cast<char>(~damaged[i]);
    }
    const auto store = Store::open(write("x.db", damaged));
    if (!store.ok()) continue;
    const auto sources = store->sources("", "");
    if (!sources.ok()) continue;
    for (const SourceInfo& source : *sources) {
      const auto heads = store->heads(source);
      if (!heads.ok()) continue;
      for (const SliceHead& head : *heads) (void)store->read(source, head);
    }
  }
}

TEST_F(Import, VerifyCountsGapsAndFallingCells) {
  ASSERT_TRUE(import_csv(at("p.db"), write("a.csv", kTwoOperators)).ok());
  const auto verified = verify(open(at("p.db")));
  ASSERT_TRUE(verified.ok());
  EXPECT_TRUE(verified->faults.empty());
  const TableHealth& gemm = verified->tables.at(1);  // 0.24.0
  EXPECT_EQ(gemm.slices, 2);
  EXPECT_EQ(gemm.cells, 5);  // 2 sites x 2 m and 1 x 1
  EXPECT_EQ(gemm.measured, 4);
  EXPECT_EQ(gemm.steps, 1);
  EXPECT_EQ(gemm.falls, 1);  // 0.5 ms at m = 1, 0.45 ms at m = 4
}

TEST_F(Import, OlderVersionsAnswerAfterTheOneAskedFor) {
  ASSERT_TRUE(import_csv(at("p.db"), write("a.csv", kTwoOperators)).ok());
  const Store store = open(at("p.db"));
  const auto newest = ordered_sources(store, "h200_sxm", "vllm", "0.24.0", "gemm");
  ASSERT_TRUE(newest.ok());
  ASSERT_EQ(newest->size(), 2u);
  EXPECT_EQ(newest->at(0).source.provenance.version, "0.24.0");
  EXPECT_EQ(newest->at(1).source.provenance.version, "0.23.0");
  EXPECT_EQ(ordered_sources(store, "h200_sxm", "vllm", "0.23.0", "gemm")->size(), 1u);
  EXPECT_TRUE(ordered_sources(store, "h200_sxm", "sglang", "0.5.14", "gemm")->empty());
}

}  // namespace
}  // namespace setpoint::perfdb
