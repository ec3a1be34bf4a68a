// SPDX-License-Identifier: Apache-2.0
#include "framework/framework.h"

#include <gtest/gtest.h>

namespace setpoint::framework {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

Place place(const std::string& system, int width = 1) {
  const hw::System found = hw::find_system(system).value();
  return {found.gpu.memory, found.gpu.sm, width, 1, 1};
}

// vLLM moved its default --gpu-memory-utilization from 0.9 to 0.92 between 0.19 and 0.22.
TEST(Facts, VllmMemoryShareFollowsTheVersion) {
  EXPECT_DOUBLE_EQ(find_facts("vllm", "0.14.0")->memory.fraction, 0.90);
  EXPECT_DOUBLE_EQ(find_facts("vllm", "0.19.0")->memory.fraction, 0.90);
  EXPECT_DOUBLE_EQ(find_facts("vllm", "0.22.0")->memory.fraction, 0.92);
  EXPECT_DOUBLE_EQ(find_facts("vllm", "0.24.0")->memory.fraction, 0.92);
}

TEST(Facts, AVersionThatWasNotReadTakesTheNearestLowerOneAndSaysSo) {
  const Facts facts = find_facts("vllm", "0.18.3").value();
  EXPECT_EQ(facts.facts_version, "0.14.0");
  EXPECT_NE(facts.version_note.find("0.14.0"), std::string::npos);
  EXPECT_EQ(find_facts("vllm", "0.24.0")->version_note, "");
  EXPECT_EQ(find_facts("vllm", "0.1.dev19262")->facts_version, "0.14.0");
}

TEST(Facts, UnknownNamesAndVersionsAreErrorsThatHelp) {
  EXPECT_NE(find_facts("vlm", "").error().text.find("vllm"), std::string::npos);
  EXPECT_NE(find_facts("vllm", "latest").error().text.find("0.24.0"), std::string::npos);
  EXPECT_FALSE(find_facts("vllm", "1..2").ok());
  EXPECT_FALSE(find_facts("vllm", "-1").ok());
  EXPECT_FALSE(find_facts("vllm", "99999999999999999999").ok());
}

TEST(Facts, CurrentVersionsAreThoseOfThePublicSnapshot) {
  EXPECT_EQ(current_version("vllm", "h200_sxm").value(), "0.24.0");
  EXPECT_EQ(current_version("vllm", "b60").value(), "0.26.0");
  EXPECT_EQ(current_version("sglang", "a100_sxm").value(), "0.5.10");
  EXPECT_EQ(current_version("trtllm", "gb300").value(), "1.3.0rc20");
}

TEST(Facts, WhatCannotBeSaidInAFrameworkIsAFact) {
  EXPECT_FALSE(find_facts("vllm", "")->moe_tp_and_ep);
  EXPECT_FALSE(find_facts("trtllm", "")->attention_tp_and_dp);
  EXPECT_TRUE(find_facts("sglang", "")->context_parallel);
  EXPECT_FALSE(find_facts("sglang", "0.5.6.post2")->context_parallel);
}

// The gather in the experts' format belongs to all Blackwell data-centre GPUs, B300 (103) too.
TEST(Facts, BlackwellDataCentreGpusTakeTheSm100Dispatch) {
  const Facts facts = find_facts("trtllm", "").value();
  for (const char* name : {"b200_sxm", "b300_sxm", "gb200", "gb300"}) {
    EXPECT_EQ(facts.dispatch_for(hw::find_system(name).value()), Dispatch::trtllm_sm100) << name;
  }
  for (const char* name : {"h100_sxm", "rtx_pro_6000_server"}) {
    EXPECT_EQ(facts.dispatch_for(hw::find_system(name).value()), Dispatch::trtllm) << name;
  }
}

// vLLM's own defaults for its server: 8192 tokens and 1024 requests from 70 GiB on, A100 excepted.
TEST(Facts, VllmLimitsFollowTheGpu) {
  const Facts facts = find_facts("vllm", "").value();
  EXPECT_EQ(facts.limits(place("h100_sxm")).token_budget, 8192);
  EXPECT_EQ(facts.limits(place("h100_sxm")).max_requests, 1024);
  EXPECT_EQ(facts.limits({Bytes(80 * kGib), 80, 1, 1, 1}).token_budget, 2048);
  EXPECT_EQ(facts.limits(place("l40s")).max_requests, 256);
}

// By hand, 141 GiB = 144384 MiB, chunk 8192, graphs up to 256: reserve 512 + 12288 + 128 + 512 =
// 13440 MiB, share 1 - 13440/144384 = 0.907 to three decimals.
TEST(Facts, SglangDerivesItsShareFromTheGpu) {
  const Facts facts = find_facts("sglang", "").value();
  EXPECT_DOUBLE_EQ(facts.memory_fraction(place("h200_sxm")), 0.907);
  // 8 GPUs, attention over 8 ranks: graphs 512, reserve 512 + 12288 + 1024 + 1024 + 12288 + 6144.
  Place wide = place("h200_sxm", 8);
  wide.dp = 8;
  EXPECT_DOUBLE_EQ(facts.memory_fraction(wide), 0.77);
  // 24 GiB: 512 + 3072 + 128 + 48 = 3760 of 24576 MiB, below the 60 GiB of the floor.
  EXPECT_DOUBLE_EQ(facts.memory_fraction({Bytes(24 * kGib), 89, 1, 1, 1}), 0.847);
  EXPECT_DOUBLE_EQ(find_facts("trtllm", "")->memory_fraction(place("h200_sxm")), 0.9);
}

TEST(Facts, ActivationElementsAreInterpolatedBetweenTheTabledWidths) {
  const Memory memory = find_facts("vllm", "")->memory;
  EXPECT_DOUBLE_EQ(memory.activation(false, 1), 11);
  EXPECT_DOUBLE_EQ(memory.activation(true, 2), 13);
  EXPECT_DOUBLE_EQ(memory.activation(true, 16), 10);
  EXPECT_NEAR(memory.activation(false, 3), 6.5 - 1.5 * 0.5849625, 1e-6);  // log2(3) - 1
  EXPECT_DOUBLE_EQ(memory.activation(false, 6), 5);
}

TEST(Facts, AnUnnamedKvTypeIsTheModelsOwnInEveryEngine) {
  for (const std::string& name : framework_names()) {
    const hw::System b200 = hw::find_system("b200_sxm").value();
    EXPECT_EQ(find_facts(name, "")->default_kv(b200, ops::Quant::nvfp4), ops::Quant::bfloat16);
  }
}

}  // namespace
}  // namespace setpoint::framework
