// SPDX-License-Identifier: Apache-2.0
#include "hw/system.h"

#include <gtest/gtest.h>

#include "ops/quant.h"

namespace setpoint::hw {
namespace {

// Vendor data sheets: H200 SXM 141 GB HBM3e at 4.8 TB/s, 989 TFLOP/s dense bf16, 1,979 fp8.
TEST(System, H200MatchesItsDataSheet) {
  const System h200 = find_system("h200_sxm").value();
  EXPECT_DOUBLE_EQ(gib(h200.gpu.memory), 141.0);
  EXPECT_DOUBLE_EQ(h200.gpu.memory_bw.value(), 4.8e12);
  EXPECT_DOUBLE_EQ(h200.gpu.peak[static_cast<std::size_t>(ops::Pipe::bf16)].value(), 989e12);
  EXPECT_DOUBLE_EQ(h200.gpu.peak[static_cast<std::size_t>(ops::Pipe::fp4)].value(), 0.0);
}

TEST(System, EveryShippedSystemReads) {
  const auto names = system_names();
  EXPECT_GE(names.size(), 14u);
  for (const std::string& name : names) {
    const auto system = find_system(name);
    ASSERT_TRUE(system.ok()) << system.error().text;
    EXPECT_EQ(system->name, name);
  }
}

TEST(System, LinkFollowsTheNumberOfGpus) {
  const System gb200 = find_system("gb200").value();  // 4 a tray, 72 in one NVLink rack
  EXPECT_EQ(gb200.link_bw(4), gb200.node.intra_node_bw);
  EXPECT_EQ(gb200.link_bw(72), gb200.node.inter_node_bw);
  EXPECT_EQ(gb200.link_bw(73), gb200.node.inter_rack_bw);
  const System h100 = find_system("h100_sxm").value();
  EXPECT_EQ(h100.link_bw(9), h100.node.inter_node_bw);
}

TEST(System, UnknownGpuIsRefusedWithItsNeighboursAndTheWayOut) {
  const auto a40 = find_system("a40");
  ASSERT_FALSE(a40.ok());
  EXPECT_EQ(a40.error().code, ErrorCode::bad_input);
  EXPECT_NE(a40.error().text.find("a30"), std::string::npos) << a40.error().text;
  EXPECT_NE(a40.error().text.find("--spec"), std::string::npos);
}

TEST(System, SpecGivesARooflineOnlySystem) {
  const System a40 = parse_system_spec("a40", "mem=48,bw=696,bf16=149.7").value();
  EXPECT_FALSE(a40.measured);
  EXPECT_DOUBLE_EQ(gib(a40.gpu.memory), 48.0);
  EXPECT_DOUBLE_EQ(a40.gpu.memory_bw.value(), 696e9);
  for (const char* bad : {"", "mem=48", "mem=48,bw=696,bf16=x", "mem=48,bw=-1,bf16=1", "ram=48",
                          "mem=48,bw=nan,bf16=1", "mem=1e99,bw=1,bf16=1"}) {
    EXPECT_FALSE(parse_system_spec("a40", bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace setpoint::hw
