// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "generate/target.h"

namespace setpoint::generate {
namespace {

// One replica of two, each predicted to hold 224 requests.
struct Fixture {
  Deployment deployment;
  Plan plan;

  explicit Fixture(const std::string& framework) {
    deployment.estimate.performance.concurrency = 224;
    deployment.estimate.performance.ttft = Ms(812.4);
    deployment.estimate.performance.tpot = Ms(21.91);
    deployment.estimate.performance.tokens_per_s = 5000;
    deployment.estimate.replicas = 2;
    plan.deployment = &deployment;
    plan.settings.framework = framework;
    plan.settings.model = "org/model";
    plan.settings.served_name = "it's prod";
    plan.settings.workload = {.isl = 4000, .osl = 1000};
  }
  std::string script() const { return bench_file(plan).text; }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int run(const std::string& command) { return std::system(command.c_str()); }

std::filesystem::path written(const std::string& text, const std::string& name) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path) << text;
  return path;
}

TEST(Bench, LadderStandsAroundThePredictedConcurrencyOfAllReplicas) {
  EXPECT_TRUE(has(Fixture("vllm").script(), "for concurrency in 56 112 224 336 448 560 672; do\n"));
  Fixture one("vllm");
  one.deployment.estimate.performance.concurrency = 1;
  one.deployment.estimate.replicas = 1;
  EXPECT_TRUE(has(one.script(), "for concurrency in 1 2; do\n"));
}

TEST(Bench, HeadStatesWhatWasPredicted) {
  EXPECT_TRUE(has(Fixture("vllm").script(),
                  "# 448 requests in flight, 812.4 ms to the first token, 21.91 ms a token after "
                  "it, 10000 tokens/s.\n"));
}

TEST(Bench, EachEngineIsLoadedByItsOwnGeneratorWithExactLengths) {
  const std::string vllm = Fixture("vllm").script();
  EXPECT_TRUE(has(vllm, "  vllm bench serve \\\n"));
  EXPECT_TRUE(has(vllm, "--random-input-len 4000 \\\n"));
  EXPECT_TRUE(has(vllm, "--random-range-ratio 0 \\\n"));
  const std::string sglang = Fixture("sglang").script();
  EXPECT_TRUE(has(sglang, "  python3 -m sglang.bench_serving \\\n"));
  EXPECT_TRUE(has(sglang, "--random-range-ratio 1\n"));
  EXPECT_TRUE(has(Fixture("trtllm").script(), "  aiperf profile \\\n"));
}

TEST(Bench, SharedPrefixIsPartOfTheInput) {
  for (const auto& [framework, prefix, rest] :
       {std::tuple{"vllm", "--random-prefix-len 1000", "--random-input-len 3000"},
        std::tuple{"sglang", "--gsp-system-prompt-len 1000", "--gsp-question-len 3000"},
        std::tuple{"trtllm", "--prefix-prompt-length 1000",
                   "--synthetic-input-tokens-mean 3000"}}) {
    Fixture fixture(framework);
    fixture.plan.settings.workload.prefix = 1000;
    EXPECT_TRUE(has(fixture.script(), prefix)) << framework;
    EXPECT_TRUE(has(fixture.script(), rest)) << framework;
  }
}

TEST(Bench, ShellTakesTheScript) {
  const bool linted = run("command -v shellcheck >/dev/null") == 0;
  for (const char* framework : {"vllm", "sglang", "trtllm"}) {
    const auto path = written(Fixture(framework).script(), std::string("bench_") + framework);
    EXPECT_EQ(run("bash -n '" + path.string() + "'"), 0) << framework;
    if (linted) {
      EXPECT_EQ(run("shellcheck '" + path.string() + "'"), 0) << framework;
    }
  }
}

TEST(Bench, RunsOneMeasurementForEachStepIntoOneFolder) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "bench_run";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "vllm") << "#!/bin/sh\necho \"$@\" >>calls\n";
  std::ofstream(folder / "bench.sh") << Fixture("vllm").script();
  ASSERT_EQ(run("cd '" + folder.string() +
                "' && chmod +x vllm && PATH=.:$PATH bash bench.sh >/dev/null && "
                "[ \"$(wc -l <calls)\" = 7 ] && [ -d results ] && "
                "grep -q -- '--served-model-name it.s prod .* --max-concurrency 448 "
                "--num-prompts 2240 .*concurrency-448.json' calls"),
            0);
}

}  // namespace
}  // namespace setpoint::generate
