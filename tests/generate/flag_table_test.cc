// SPDX-License-Identifier: Apache-2.0
// Facts of the released parsers: vLLM 0.14.0 to 0.33.0, SGLang 0.5.6.post2 to 0.5.23 (their own
// --help), and the public sources of TensorRT-LLM.
#include "generate/flag_table.h"

#include <gtest/gtest.h>

namespace setpoint::generate {
namespace {

FlagTable open(const std::string& framework, const std::string& version) {
  auto table = FlagTable::open(framework, version);
  EXPECT_TRUE(table.ok()) << (table.ok() ? "" : table.error().text);
  return *table;
}

std::string refusal(const Result<FlagInfo>& found) { return found ? "" : found.error().text; }

TEST(FlagTable, ExactVersionHasNoNote) {
  const FlagTable table = open("vllm", "0.24.0");
  EXPECT_EQ(table.table_version(), "0.24.0");
  EXPECT_EQ(table.note(), "");
}

TEST(FlagTable, VersionBetweenKnownOnesTakesTheNearestLowerAndSaysSo) {
  const FlagTable table = open("vllm", "0.20.1");
  EXPECT_EQ(table.version(), "0.20.1");
  EXPECT_EQ(table.table_version(), "0.19.0");
  EXPECT_EQ(table.note(),
            "vllm 0.20.1: flags are those of 0.19.0, the nearest lower version that is known");
  EXPECT_EQ(open("sglang", "0.5.30").table_version(), "0.5.23");
  EXPECT_EQ(open("trtllm", "1.3.0rc20").table_version(), "1.2.0rc0");
  EXPECT_EQ(open("trtllm", "1.4.0rc2").table_version(), "1.4.0.dev0");
}

TEST(FlagTable, VersionOlderThanAllKnownIsRefusedWithThose) {
  const auto table = FlagTable::open("vllm", "0.10.0");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().code, ErrorCode::bad_input);
  EXPECT_NE(table.error().text.find("0.14.0, 0.19.0, 0.22.0, 0.24.0, 0.33.0"), std::string::npos);
}

TEST(FlagTable, UnknownFrameworkAndUnreadableVersionAreRefused) {
  const auto framework = FlagTable::open("vlllm", "0.24.0");
  ASSERT_FALSE(framework.ok());
  EXPECT_NE(framework.error().text.find("vllm"), std::string::npos);
  EXPECT_FALSE(FlagTable::open("containers", "1.0").ok());  // another file of that folder
  for (const char* version : {"", "latest", "0.24.0; rm", "../../x"}) {
    EXPECT_FALSE(FlagTable::open("vllm", version).ok()) << version;
  }
}

TEST(FlagTable, FlagsAppearAndGoWithTheirVersions) {
  EXPECT_FALSE(open("vllm", "0.14.0").has("--moe-backend"));
  EXPECT_TRUE(open("vllm", "0.19.0").has("--moe-backend"));
  EXPECT_TRUE(open("vllm", "0.14.0").has("--swap-space"));
  EXPECT_FALSE(open("vllm", "0.19.0").has("--swap-space"));
  // Not listed by its help, still accepted.
  EXPECT_TRUE(open("vllm", "0.33.0").has("--no-enable-prefix-caching"));
}

TEST(FlagTable, MissingFlagNamesTheNearestVersionThatHasIt) {
  EXPECT_NE(refusal(open("vllm", "0.14.0").find("--moe-backend")).find("has it is 0.19.0"),
            std::string::npos);
  EXPECT_NE(refusal(open("vllm", "0.33.0").find("--swap-space")).find("has it is 0.14.0"),
            std::string::npos);
}

TEST(FlagTable, FlagOfNoVersionNamesTheNearestKnown) {
  EXPECT_NE(refusal(open("vllm", "0.24.0").find("--max-num-seq")).find("--max-num-seqs"),
            std::string::npos);
}

TEST(FlagTable, RenamedFlagIsWrittenUnderItsNewNameWhereThatExists) {
  EXPECT_EQ(open("sglang", "0.5.12").find("--cuda-graph-bs")->name, "--cuda-graph-bs");
  EXPECT_EQ(open("sglang", "0.5.14").find("--cuda-graph-bs")->name, "--cuda-graph-bs-decode");
  EXPECT_EQ(open("sglang", "0.5.23").find("--cuda-graph-bs")->name, "--cuda-graph-bs-decode");
}

TEST(FlagTable, ChoicesAreThoseOfTheVersion) {
  const FlagTable old = open("vllm", "0.14.0"), middle = open("vllm", "0.22.0");
  EXPECT_FALSE(old.accepts(*old.find("--kv-cache-dtype"), "nvfp4").ok());
  EXPECT_TRUE(middle.accepts(*middle.find("--kv-cache-dtype"), "nvfp4").ok());
  const FlagTable early = open("trtllm", "1.0.0"), late = open("trtllm", "1.2.0rc5");
  const std::string backend = "cache_transceiver_config.backend";
  EXPECT_TRUE(early.accepts(*early.find(backend), "nixl").ok());
  EXPECT_FALSE(early.accepts(*early.find(backend), "NIXL").ok());
  EXPECT_TRUE(late.accepts(*late.find(backend), "NIXL").ok());
}

TEST(FlagTable, ValuesMustHaveTheTypeOfTheFlag) {
  const FlagTable table = open("vllm", "0.24.0");
  struct Case {
    const char *flag, *value;
    bool accepted;
  };
  for (const Case& one :
       {Case{"--max-num-seqs", "128", true}, Case{"--max-num-seqs", "12.5", false},
        Case{"--max-num-seqs", "1e3", false}, Case{"--max-num-seqs", "", false},
        Case{"--gpu-memory-utilization", "0.83", true},
        Case{"--gpu-memory-utilization", "most", false},
        Case{"--speculative-config", R"({"method":"mtp"})", true},
        Case{"--speculative-config", "mtp", false}, Case{"--cudagraph-capture-sizes", "8", true},
        Case{"--cudagraph-capture-sizes", "eight", false},
        Case{"--enable-expert-parallel", "", true}, Case{"--enable-expert-parallel", "8", false}}) {
    EXPECT_EQ(table.accepts(*table.find(one.flag), one.value).ok(), one.accepted)
        << one.flag << " " << one.value;
  }
}

}  // namespace
}  // namespace setpoint::generate
