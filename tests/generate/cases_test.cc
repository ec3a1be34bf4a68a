// SPDX-License-Identifier: Apache-2.0
// Launch files that once did not start, or started something else than was promised: reported cases
// by their number where they were reported, and the faults seen in AIConfigurator 0.12.0's files.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "deployments.h"
#include "generate/readback.h"
#include "generate/target.h"

namespace {

using namespace setpoint;
using namespace setpoint::generate;
using namespace setpoint::generate_test;

std::string text_of(const std::string& json, Options options, Target target) {
  options.target = target;
  std::string out;
  for (const File& file : must(generate::generate(deployment(json), options), json)) {
    if (file.path != "plan.json") out += file.text + "\n";
  }
  return out;
}
std::string text_of(const std::string& json, Target target) { return text_of(json, {}, target); }

// How often `what` stands there as a word of its own.
std::int64_t count(const std::string& text, const std::string& what) {
  const auto words = words_of(text);
  return std::count(words.begin(), words.end(), what);
}
// The word behind each `flag`.
std::vector<std::string> behind(const std::string& text, const std::string& flag) {
  const auto words = words_of(text);
  std::vector<std::string> out;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == flag) out.push_back(words[i + 1]);
  }
  return out;
}
using Words = std::vector<std::string>;

std::string pools(const std::string& framework, const std::string& more = "") {
  return R"({"model": "Qwen/Qwen3-32B", "system": "h100_sxm", "isl": 4000, "osl": 1000,
      "mode": "disagg", "prefill": {"workers": 2, "tp": 2, "batch": 1},
      "decode": {"tp": 4, "batch": 40}, "framework": ")" +
         framework + "\"" + more + "}";
}
// Attention data parallel over eight GPUs, with a draft token.
std::string experts(const std::string& framework) {
  return R"({"model": "deepseek-ai/DeepSeek-V3", "system": "h200_sxm", "isl": 4000, "osl": 1000,
      "tp": 1, "dp": 8, "moe_ep": 8, "batch": 8, "nextn": 1, "nextn_accepted": 0.8,
      "framework": ")" +
         framework + "\"}";
}

// ai-dynamo/aiconfigurator 453 and 307: 6500 is no multiple of 32, every worker dies.
TEST(Case, LimitsOfTensorRtLlmAreWholeBlocks) {
  const std::string text = text_of(pools("trtllm"), Target::run);
  EXPECT_EQ(behind(text, "max_seq_len:"), (Words{"6528", "6528"}));
  for (const char* key : {"max_seq_len:", "max_num_tokens:", "max_tokens_in_buffer:"}) {
    const Words values = behind(text, key);
    ASSERT_EQ(values.size(), 2u) << key;
    for (const std::string& value : values) EXPECT_EQ(std::stol(value) % 32, 0) << key << value;
  }
}

// ai-dynamo/aiconfigurator 106: kv_cache_dtype and padding_enabled are no keys.
TEST(Case, KeysOfTensorRtLlmAreNestedWhereItReadsThem) {
  Options options;
  const auto files = must(generate::generate(deployment(pools("trtllm")), options), "files");
  int seen = 0;
  for (const File& file : files) {
    if (file.path != "decode.yaml" && file.path != "prefill.yaml") continue;
    ++seen;
    const YAML::Node yaml = YAML::Load(file.text);
    EXPECT_EQ(yaml["kv_cache_config"]["dtype"].Scalar(), "auto");
    EXPECT_FALSE(yaml["kv_cache_dtype"]);
    EXPECT_EQ(yaml["cuda_graph_config"].IsDefined(), file.path == "decode.yaml");
    if (file.path == "decode.yaml") {
      EXPECT_TRUE(yaml["cuda_graph_config"]["enable_padding"].as<bool>());
    }
    EXPECT_FALSE(yaml["padding_enabled"]);
  }
  EXPECT_EQ(seen, 2);
}

// ai-dynamo/aiconfigurator 1293: the alias answers 404.
TEST(Case, TheServedNameIsOnEveryRole) {
  Options options;
  options.served_name = "prod-a";
  for (const char* framework : {"vllm", "sglang"}) {
    for (const Target target : {Target::dynamo, Target::llm_d}) {
      const Words names = behind(text_of(pools(framework), options, target), "--served-model-name");
      ASSERT_GE(names.size(), 2u) << framework;
      EXPECT_EQ(std::count(names.begin(), names.end(), "prod-a"), std::int64_t(names.size()));
    }
  }
  // A version without the flag refuses the alias instead of losing it.
  options.engine_version = "1.0.0";
  options.target = Target::run;
  const auto refused = generate::generate(deployment(pools("trtllm")), options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text.find("served_model_name"), std::string::npos)
      << refused.error().text;
}

// ai-dynamo/aiconfigurator 377: a list of capture sizes in YAML broke the start.
TEST(Case, CaptureSizesAreOneWordEachInYaml) {
  const std::string json =
      R"({"model": "Qwen/Qwen3-32B", "system": "h200_sxm", "isl": 1000, "osl": 200,
      "framework": "vllm", "tp": 2, "batch": 300})";
  Options options;
  options.target = Target::dynamo;
  const auto files = must(generate::generate(deployment(json), options), json);
  Words sizes;
  for (const YAML::Node& document : YAML::LoadAll(files[0].text)) {
    if (!document["spec"] || !document["spec"]["services"]) continue;
    const YAML::Node args =
        document["spec"]["services"]["worker"]["extraPodSpec"]["mainContainer"]["args"];
    bool on = false;
    for (const auto& word : args) {
      if (word.Scalar().starts_with("--"))
        on = word.Scalar() == "--cudagraph-capture-sizes";
      else if (on)
        sizes.push_back(word.Scalar());
    }
  }
  ASSERT_GE(sizes.size(), 36u);
  EXPECT_EQ(sizes.front(), "1");
  EXPECT_EQ(sizes.back(), "300");
}

TEST(Fault, AWorkerOfEightGpusClaimsEight) {
  for (const char* framework : {"vllm", "sglang", "trtllm"}) {
    const std::string text = text_of(experts(framework), Target::dynamo);
    EXPECT_EQ(behind(text, "gpu:"), Words{"8"}) << framework;
    EXPECT_EQ(count(text, "nodeCount:"), 0) << framework;
  }
}

TEST(Fault, NewEnginesGetTheFlagsThatTheyHave) {
  Options options;
  options.engine_version = "0.5.23";
  const std::string newest = text_of(pools("sglang"), options, Target::run);
  EXPECT_EQ(count(newest, "--cuda-graph-bs"), 0);
  EXPECT_EQ(count(newest, "--cuda-graph-bs-decode"), 1);
  options.engine_version = "0.5.12";
  EXPECT_EQ(count(text_of(pools("sglang"), options, Target::run), "--cuda-graph-bs"), 1);
}

TEST(Fault, StepsCoverDraftTokensAndTheFoundBatchIsTheLimit) {
  const std::string vllm = text_of(experts("vllm"), Target::run);
  EXPECT_EQ(behind(vllm, "--max-num-seqs"), Words{"8"});
  EXPECT_GE(std::stol(behind(vllm, "--max-num-batched-tokens").at(0)), 16);
  const std::string text = text_of(pools("vllm", R"(, "nextn": 0)"), Target::dynamo);
  EXPECT_EQ(behind(text, "--max-num-seqs"), (Words{"1", "40"}));
  EXPECT_EQ(behind(text, "--max-num-batched-tokens"), (Words{"5500", "40"}));
  const std::string trtllm = text_of(pools("trtllm"), Target::run);
  EXPECT_EQ(behind(trtllm, "max_batch_size:"), (Words{"1", "40"}));
}

TEST(Fault, NothingSaysNoneOrNull) {
  for (const char* framework : {"vllm", "sglang", "trtllm"}) {
    for (const std::string& json : {pools(framework), experts(framework)}) {
      const Deployment d = deployment(json);
      for (const Target target : targets_for(d, {})) {
        const std::string text = text_of(json, target);
        EXPECT_EQ(count(text, "None"), 0) << framework;
        EXPECT_EQ(count(text, "null"), 0) << framework;
        EXPECT_EQ(text.find(".None."), std::string::npos);
      }
    }
  }
}

TEST(Fault, MemoryShareAndLengthAreWrittenForEveryRole) {
  const std::string vllm = text_of(pools("vllm"), Target::dynamo);
  EXPECT_EQ(count(vllm, "--gpu-memory-utilization"), 2);
  EXPECT_EQ(behind(vllm, "--max-model-len"), (Words{"6500", "6500"}));
  const std::string sglang = text_of(pools("sglang"), Target::dynamo);
  EXPECT_EQ(count(sglang, "--mem-fraction-static"), 2);
  EXPECT_EQ(behind(sglang, "--context-length"), (Words{"6500", "6500"}));
}

TEST(Fault, BothPoolsOfLlmDHandOverTheirKv) {
  for (const auto& [framework, flag] :
       {std::pair{"vllm", "--kv-transfer-config"}, {"sglang", "--disaggregation-mode"}}) {
    Options options;
    options.target = Target::llm_d;
    const auto files = must(generate::generate(deployment(pools(framework)), options), framework);
    const YAML::Node values = YAML::Load(files[0].text);
    for (const char* role : {"prefill", "decode"}) {
      const YAML::Node container = values[role]["containers"][0];
      EXPECT_EQ(count(YAML::Dump(container["args"]), flag), 1) << framework << role;
      const std::string command = container["modelCommand"].Scalar();
      EXPECT_TRUE(command == "custom" || command == "vllmServe" || command == "imageDefault");
    }
  }
}

TEST(Fault, TheEngineChoosesItsExpertKernelsUnlessTold) {
  const std::string text = text_of(experts("trtllm"), Target::dynamo);
  EXPECT_EQ(count(text, "CUTLASS"), 0);
  EXPECT_EQ(text.find("--publish-events-and-metrics"), std::string::npos);
}

}  // namespace
