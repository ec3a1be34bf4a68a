// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/sqlite.h"
#include "profile/split.h"

namespace setpoint::profile {
namespace {

namespace fs = std::filesystem;

const char* const kTrace =
    R"json({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3},
 "traceEvents": [
  {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#12", "pid": 1, "tid": 1, "ts": 0, "dur": 90},
  {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#12", "pid": 0, "tid": 7, "ts": 10, "dur": 80},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3, "args": {"correlation": 41, "External id": 4}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10.5, "dur": 39.5, "args": {"stream": 7, "correlation": 41}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 9, "ts": 40, "dur": 20, "args": {"stream": 9, "correlation": 42, "nested": {"correlation": 7}}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pinned)",
   "pid": 0, "tid": 7, "ts": "70", "dur": "10"},
  {"ph": "X", "cat": "kernel", "name": "broken", "ts": 5},
  {"ph": "i", "cat": "kernel", "name": "mark", "ts": 5}
 ]})json";

TEST(Kineto, StepsKernelsCopiesAndLaunchesAreRead) {
  const auto trace = read_kineto(kTrace, "");
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->rank, 3);
  EXPECT_EQ(trace->skipped, 1);
  ASSERT_EQ(trace->events.size(), 3u);
  EXPECT_EQ(trace->events[1].correlation, 42);
  EXPECT_EQ(trace->launches.at(41).begin, 2);
  const auto steps = split_steps(*trace);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].number, 12);
  EXPECT_DOUBLE_EQ(steps[0].split.total_ms, 0.080);
  EXPECT_DOUBLE_EQ(steps[0].split.compute_ms, 0.0395);
  EXPECT_DOUBLE_EQ(steps[0].split.communication_ms, 0.010);
  EXPECT_DOUBLE_EQ(steps[0].split.host_copy_ms, 0.010);
}

TEST(Kineto, ACpuRunSplitsByThreads) {
  const auto trace = read_kineto(R"({"traceEvents": [
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","ts":0,"dur":100,"tid":1},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","ts":0,"dur":60,"tid":1},
    {"ph":"X","cat":"user_annotation","name":"gloo:all_reduce","ts":40,"dur":50,"tid":9}]})",
                                 "");
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->host_only);
  const auto steps = split_steps(*trace);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_DOUBLE_EQ(steps[0].split.compute_ms, 0.060);
  EXPECT_DOUBLE_EQ(steps[0].split.communication_ms, 0.030);
  EXPECT_DOUBLE_EQ(steps[0].split.hidden_communication_ms, 0.020);
}

TEST(Kineto, OtherJsonAndBrokenTextAreOneLine) {
  for (const char* text : {"{}", "[]", "7", "", "{\"traceEvents\": {}}", "{\"traceEvents\": [",
                           "{\"a\": \"\xff\xfe\"}"}) {
    const auto trace = read_kineto(text, "");
    ASSERT_FALSE(trace) << text;
    EXPECT_EQ(trace.error().code, ErrorCode::bad_input);
    EXPECT_EQ(trace.error().text.find('\n'), std::string::npos);
  }
  const auto deep = read_kineto("{\"traceEvents\": " + std::string(100000, '['), "");
  ASSERT_FALSE(deep);
  EXPECT_NE(deep.error().text.find("nested deeper"), std::string::npos);
}

TEST(Kineto, NumbersBeyondAnyClockAreSkipped) {
  const auto trace = read_kineto(R"({"traceEvents": [
    {"ph":"X","cat":"kernel","name":"a","ts":1e308,"dur":1e308,"args":{"correlation":1e300}},
    {"ph":"X","cat":"kernel","name":"b","ts":1,"dur":-5},
    {"ph":"X","cat":"kernel","name":"c","ts":1,"dur":2}]})",
                                 "");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->skipped, 2);
  EXPECT_EQ(trace->events.size(), 1u);
}

// A small export with the columns that Nsight Systems documents.
fs::path nsys_export() {
  const fs::path file = fs::path(testing::TempDir()) / "profile_nsys.sqlite";
  fs::remove(file);
  auto db = base::Database::open(file);
  EXPECT_TRUE(db);
  const char* const sql =
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
      "INSERT INTO StringIds VALUES (1,'void "
      "gemm<float>'),(2,'ncclDevKernel_SendRecv(args)'),(3,'iteration 5');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
      "contextId INTEGER, streamId INTEGER, correlationId INTEGER, demangledName INTEGER, "
      "shortName INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
      "(1000,41000,0,1,7,1,1,1),(31000,61000,0,1,9,2,2,2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, "
      "correlationId INTEGER, bytes INTEGER, copyKind INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (71000,81000,0,3,4096,1);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, "
      "correlationId INTEGER, nameId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
      "(500,900,1,1,1),(600,950,1,2,1),(70000,70500,1,3,1);"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId "
      "INTEGER, globalTid INTEGER);"
      "INSERT INTO NVTX_EVENTS VALUES "
      "(0,90000,59,NULL,3,1),(10,20,59,'forward',NULL,1),(5,NULL,34,'mark',NULL,1);";
  EXPECT_TRUE(db->execute(sql));
  return file;
}

TEST(Nsys, AnExportReadsLikeATrace) {
  const auto trace = read_trace(nsys_export(), "");
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->format, "nsys");
  ASSERT_EQ(trace->events.size(), 3u);
  ASSERT_EQ(trace->host_steps.size(), 1u);
  EXPECT_EQ(trace->host_steps[0].number, 5);
  const auto steps = split_steps(*trace);  // from the first kernel launched in it to the last end
  ASSERT_EQ(steps.size(), 1u);
  const Split& s = steps[0].split;
  EXPECT_DOUBLE_EQ(s.total_ms, 0.080);
  EXPECT_DOUBLE_EQ(s.compute_ms, 0.040);
  EXPECT_DOUBLE_EQ(s.communication_ms, 0.020);
  EXPECT_DOUBLE_EQ(s.send_receive_ms, 0.020);
  EXPECT_DOUBLE_EQ(s.hidden_communication_ms, 0.010);
  EXPECT_DOUBLE_EQ(s.host_copy_ms, 0.010);
  EXPECT_DOUBLE_EQ(s.host_ms, 0.010 + 0.0095);  // gap 61-71: launched at 70, 0.5 us to start
}

TEST(Nsys, ADatabaseOfSomethingElseIsRefused) {
  const fs::path file = fs::path(testing::TempDir()) / "profile_other.sqlite";
  fs::remove(file);
  {
    auto db = base::Database::open(file);
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->execute("CREATE TABLE t (x)"));
  }
  const auto trace = read_trace(file, "");
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().text.find("not an Nsight Systems export"), std::string::npos);
}

TEST(ReadTrace, GzipIsUnpackedAndAMissingFileIsTheEnvironments) {
  const fs::path file = fs::path(testing::TempDir()) / "profile_trace.json";
  std::ofstream(file) << kTrace;
  fs::remove(file.string() + ".gz");
  ASSERT_EQ(std::system(("gzip -kf " + file.string()).c_str()), 0);
  const auto trace = read_trace(file.string() + ".gz", "");
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->events.size(), 3u);
  const auto missing = read_trace("/nowhere/trace.json", "");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::environment);
}

}  // namespace
}  // namespace setpoint::profile
