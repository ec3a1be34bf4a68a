// SPDX-License-Identifier: Apache-2.0
#include "generate/kube.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <set>

#include "generate/containers.h"

namespace setpoint::generate {
namespace {

TEST(Kube, NamesAreLabelsThatKubernetesAccepts) {
  const std::regex label("[a-z]([-a-z0-9]*[a-z0-9])?");  // RFC 1123 label that begins with a letter
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (auto n = random() % 90; n > 0; --n) text += static_cast<char>(random() % 256);
    const std::string name = dns_name(text, 40);
    EXPECT_LE(name.size(), 40u);
    EXPECT_TRUE(std::regex_match(name, label)) << name;
  }
  EXPECT_EQ(dns_name("Qwen3-32B-FP8", 40), "qwen3-32b-fp8");
  EXPECT_EQ(dns_name("Llama_3.1 (70B)", 40), "llama-3-1-70b");
  EXPECT_EQ(dns_name("3B", 40), "m-3b");
}

TEST(Kube, LongNamesThatDifferLateStayDifferent) {
  const std::string stem(60, 'a');
  EXPECT_NE(dns_name(stem + "1", 40), dns_name(stem + "2", 40));
}

TEST(Kube, LiteralWordsAreSafeFromExpansion) {
  EXPECT_EQ(pod_words({{"--x"}, {"$(HOME)"}, {"$(POD_IP):1", true}, {"$5"}}, 1).dump(),
            R"json(["$$(HOME)","$(POD_IP):1","$5"])json");
}

TEST(Containers, ADynamoReleaseIsChosenByTheEngineInside) {
  const auto exact = dynamo_release("vllm", "0.24.0");
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->version, "1.3.0");
  EXPECT_EQ(exact->image, "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0");
  EXPECT_EQ(exact->note, "");
  const auto between = dynamo_release("vllm", "0.22.0");
  ASSERT_TRUE(between);
  EXPECT_EQ(between->engine_version, "0.20.1");
  EXPECT_NE(between->note, "");
  const auto candidate = dynamo_release("trtllm", "1.3.0rc5.post1");
  ASSERT_TRUE(candidate);
  EXPECT_EQ(candidate->version, "1.0.0");
  EXPECT_FALSE(candidate->mode_flag);
  const auto old = dynamo_release("vllm", "0.9.0");
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().text.find("0.12.0"), std::string::npos) << old.error().text;
}

TEST(Containers, EnginesHaveTheirOwnImages) {
  EXPECT_EQ(engine_image("vllm", "0.24.0"), "vllm/vllm-openai:v0.24.0");
  EXPECT_EQ(engine_image("sglang", "0.5.16"), "lmsysorg/sglang:v0.5.16");
}

}  // namespace
}  // namespace setpoint::generate
