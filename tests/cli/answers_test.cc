// SPDX-License-Identifier: Apache-2.0
// Whole commands that answer: on roofline data, which every machine has.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/program.h"

namespace setpoint::cli_test {
namespace {

using nlohmann::json;

const std::string kDense = "--model Qwen/Qwen3-32B-FP8 --system h200_sxm --data roofline ";
const std::string kSearch = "aiconf search " + kDense + "--gpus 8 ";

json document(const Ran& ran) {
  EXPECT_TRUE(json::accept(ran.out)) << ran.out.substr(0, 200) << ran.err;
  return json::accept(ran.out) ? json::parse(ran.out) : json();
}

void expect_refused(const std::string& line, const std::string& says) {
  const Ran ran = run(line, "HF_HUB_OFFLINE=1");
  EXPECT_EQ(ran.code, 2) << line;
  EXPECT_EQ(ran.out, "") << line;
  EXPECT_EQ(lines(ran.err), 1u) << line << ": " << ran.err;
  EXPECT_NE(ran.err.find(says), std::string::npos) << line << ": " << ran.err;
}

struct Wrong {
  std::string flags, says;
};

TEST(Search, ImpossibleInputsAreOneLineThatSaysWhatIsValid) {
  const std::string gpus = "--gpus: expected a whole number from 1 to 1024";
  const std::vector<Wrong> cases{
      {"--gpus 0", gpus},
      {"--gpus -4", gpus},
      {"--gpus 1e12", gpus},
      {"--gpus nan", gpus},
      {"--gpus 8.5", gpus},
      {"--gpus", "--gpus: a value must follow"},
      {"--gpus 8 --isl 0", "--isl: expected a whole number from 1"},
      {"--gpus 8 --isl 99999999999999999999", "--isl: expected a whole number"},
      {"--gpus 8 --ttft -1", "--ttft: expected a number from 0.001"},
      {"--gpus 8 --tpot inf", "--tpot: expected a number"},
      {"--gpus 8 --tpot 1e999", "--tpot: expected a number"},
      {"--gpus 8 --min-user-speed 0", "--min-user-speed: expected a number"},
      {"--gpus 8 --prefix 4000", "prefix: expected less than isl (4000)"},
      {"--gpus 8 --target-rate 3", "expected exactly one of --gpus"},
      {"", "expected exactly one of --gpus"},
      {"--gpus 8 --framework vlm", "expected vllm, sglang, trtllm, all"},
      {"--gpus 8 --quant kv", "expected KEY=MODE"},
      {"--gpus 8 --quant kvv=fp8", "nearest known: kv"},
      {"--gpus 8 --quant kv=fp9", "unknown mode \"fp9\""},
      {"--gpus 8 --decode-system h201", "unknown system \"h201\""},
      {"--gpus 8 --tpott 30", "nearest known: --tpot"},
      {"--gpus 8 --precision fp3", "expected bf16, fp8, fp4, int4"},
  };
  for (const Wrong& wrong : cases) {
    expect_refused("aiconf search " + kDense + wrong.flags, wrong.says);
  }
  expect_refused("aiconf search --system h200_sxm --gpus 8", "--model is required");
  expect_refused("aiconf search --model Qwen/Qwen3-23B --system h200_sxm --gpus 8",
                 "nearest known: Qwen/Qwen3-32B");
}

TEST(Search, AnUnknownGpuIsRefusedWithTheSpecLineThatWouldDescribeIt) {
  expect_refused("aiconf search --model Qwen/Qwen3-8B --system a40 --gpus 4 --framework vllm",
                 "--spec mem=GiB,bw=GB/s,bf16=TFLOP/s");
  const Ran ran =
      run("aiconf search --model Qwen/Qwen3-8B --system a40 --gpus 4 --framework vllm --json "
          "--spec mem=48,bw=696,bf16=149.7");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const json best = document(ran)["agg"]["configs"][0];
  EXPECT_EQ(best["evidence"]["measured"], 0);
  EXPECT_LE(best["workers"][0]["memory_gib"], 48);
}

TEST(Search, BoundsApplyOnlyWhenAskedAndAssumptionsAreEchoed) {
  const json free = document(run(kSearch + "--json"));
  EXPECT_TRUE(free["inputs"]["sla"]["ttft_ms"].is_null());
  EXPECT_TRUE(free["inputs"]["sla"]["tpot_ms"].is_null());
  const auto assumed = free["inputs"]["assumed"].get<std::vector<std::string>>();
  EXPECT_NE(std::find(assumed.begin(), assumed.end(), "isl"), assumed.end());
  EXPECT_FALSE(free["rejected"].contains("tpot"));
  const json bound = document(run(kSearch + "--json --tpot 30 --isl 4000"));
  EXPECT_LE(bound["agg"]["configs"][0]["tpot_ms"], 30);
  const auto given = bound["inputs"]["assumed"].get<std::vector<std::string>>();
  EXPECT_EQ(std::find(given.begin(), given.end(), "isl"), given.end());
}

TEST(Search, AMinimumUserSpeedIsATpotBound) {
  const json result = document(run(kSearch + "--json --min-user-speed 50 --tpot 100"));
  EXPECT_EQ(result["inputs"]["sla"]["tpot_ms"], 20);
  EXPECT_GE(result["agg"]["configs"][0]["tokens_per_s_per_user"], 50);
}

TEST(Search, WhenNothingMeetsTheBoundsTheExitCodeIs1AndTheNearestAreShown) {
  const Ran ran = run(kSearch + "--json --tpot 0.01");
  EXPECT_EQ(ran.code, 1);
  const json result = document(ran);
  EXPECT_TRUE(result["best"].is_null());
  EXPECT_EQ(result["no_answer"]["binding_limit"], "tpot");
  EXPECT_GT(result["no_answer"]["best_reachable"]["tpot_ms"], 0.01);
  EXPECT_EQ(result["no_answer"]["nearest"].size(), 3u);
  const Ran screen = run(kSearch + "--tpot 0.01");
  EXPECT_EQ(screen.code, 1);
  EXPECT_NE(screen.out.find("No configuration meets this: tpot binds"), std::string::npos);
}

TEST(Search, ResultsGoToStandardOutputAtAnyVerbosity) {
  for (const char* verbosity : {"-q", "-v", "-v -v", ""}) {
    const Ran ran = run(kSearch + verbosity);
    EXPECT_EQ(ran.code, 0);
    EXPECT_NE(ran.out.find("tokens/s/GPU"), std::string::npos) << verbosity;
  }
  EXPECT_EQ(run(kSearch + "--quiet").err, "");
}

TEST(Search, OneOutputTokenRanksByRequestsAndHasNoTpot) {
  const Ran ran = run(kSearch + "--isl 4000 --osl 1");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("TPOT n/a"), std::string::npos);
  EXPECT_EQ(ran.out.find("0.00"), std::string::npos) << ran.out;
  const json best = document(run(kSearch + "--isl 4000 --osl 1 --json"))["agg"]["configs"][0];
  EXPECT_TRUE(best["tpot_ms"].is_null());
  EXPECT_GT(best["requests_per_s"], 0);
}

TEST(Search, EveryLineFitsTheTerminal) {
  for (const int columns : {80, 100}) {
    const Ran ran = run(kSearch, "LC_ALL=C COLUMNS=" + std::to_string(columns));
    std::istringstream text(ran.out);
    for (std::string line; std::getline(text, line);) {
      EXPECT_LE(static_cast<int>(line.size()), columns) << line;
    }
    EXPECT_EQ(ran.out.find('\033'), std::string::npos);
  }
}

TEST(Search, SavesTheSameDocumentThatItPrints) {
  const auto folder = scratch() / "saved";
  std::filesystem::remove_all(folder);
  const Ran ran = run(kSearch + "--json --save " + folder.string());
  EXPECT_EQ(ran.out, slurp(folder / "result.json"));
}

TEST(Search, CsvHasEveryPointThatWasPricedTheWinnerAmongThem) {
  const auto file = scratch() / "points.csv";
  const json result =
      document(run(kSearch + "--mode agg --framework vllm --json --csv " + file.string()));
  const std::string csv = slurp(file);
  EXPECT_EQ(lines(csv), result["stats"]["points"].get<std::size_t>() + 1);
  std::istringstream rows(csv);
  std::string row;
  double best = 0;
  std::getline(rows, row);
  while (std::getline(rows, row)) {
    std::istringstream fields(row);
    std::string field;
    for (int i = 0; i <= 10; ++i) std::getline(fields, field, ',');  // tokens_per_s_per_gpu
    best = std::max(best, std::stod(field));
  }
  EXPECT_NEAR(best, result["agg"]["configs"][0]["tokens_per_s_per_gpu"].get<double>(), 1e-9);
}

TEST(Search, EveryCandidateEndsInOneBucket) {
  const json result = document(run(kSearch + "--json --tpot 30"));
  std::int64_t rejected = 0;
  for (const auto& [bucket, count] : result["rejected"].items()) rejected += count.get<int>();
  EXPECT_EQ(result["stats"]["candidates"], rejected + result["stats"]["met"].get<std::int64_t>());
}

// The public tables hold no block-fp8 GEMM of L40S for SGLang.
TEST(Search, AnAnswerThatLacksTablesSaysSo) {
  const char* database = std::getenv("SETPOINT_DB");
  const std::string installed = SETPOINT_BINARY_DIR "/share/setpoint/perfdb.db";
  if (database == nullptr && !std::filesystem::exists(installed)) {
    GTEST_SKIP() << "no imported tables: neither $SETPOINT_DB nor " << installed;
  }
  const std::string line =
      "aiconf search --model Qwen/Qwen3-32B-FP8 --system l40s --gpus 8 --data measured ";
  const std::string environment =
      "SETPOINT_DB=" + (database == nullptr ? installed : std::string(database));
  const json result = document(run(line + "--json", environment));
  EXPECT_EQ(result["incomplete"], true);
  EXPECT_GT(result["rejected"]["missing_data"], 0);
  const std::string named = result["missing_data"].dump();
  EXPECT_NE(named.find("gemm"), std::string::npos) << named;
  EXPECT_NE(named.find("sglang"), std::string::npos) << named;
  EXPECT_NE(run(line, environment).out.find("INCOMPLETE ANSWER"), std::string::npos);
}

TEST(Estimate, ABatchThatDoesNotFitIsAnAnswerWithWhatWouldFit) {
  const std::string line =
      "aiconf estimate --model openai/gpt-oss-120b --system b200_sxm --data roofline --tp 1 "
      "--batch 64 --isl 65536 --osl 1024 --quant kv=bfloat16 ";
  const Ran ran = run(line);
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("KV capacity"), std::string::npos);
  EXPECT_NE(ran.out.find("2.29 GiB per sequence"), std::string::npos) << ran.out;
  const json refusal = document(run(line + "--json"))["refusal"];
  EXPECT_NEAR(refusal["kv_gib_per_sequence"].get<double>(), 2.29, 0.005);
  EXPECT_GT(refusal["largest_batch"], 0);
  EXPECT_LT(refusal["largest_batch"], 64);
  EXPECT_LT(refusal["longest_length"], 66560);
}

TEST(Estimate, TheBreakdownNamesEveryOperatorWithItsEvidence) {
  const json config =
      document(run("aiconf estimate --model Qwen/Qwen3-235B-A22B-FP8 --system "
                   "h200_sxm --data roofline --tp 4 --ep 4 --batch 16 --breakdown "
                   "--json"));
  EXPECT_EQ(config["workers"][0]["moe_ep"], 4);
  EXPECT_EQ(config["workers"][0]["moe_tp"], 1);
  ASSERT_FALSE(config["breakdown"].empty());
  for (const auto& [phase, ops] : config["breakdown"].items()) {
    EXPECT_GT(ops.size(), 5u) << phase;
    for (const auto& op : ops) EXPECT_EQ(op["evidence"], "roofline");
  }
}

TEST(Estimate, NeedsOneOfBatchAndConcurrency) {
  expect_refused("aiconf estimate " + kDense + "--tp 2", "expected exactly one of the two");
  expect_refused("aiconf estimate " + kDense + "--mode disagg --batch 4", "--prefill and --decode");
  expect_refused("aiconf estimate " + kDense + "--mode disagg --prefill tp=1,bach=2 --decode tp=1",
                 "nearest known: batch");
}

TEST(Requests, EveryLineIsAnsweredInOrderAndBadOnesSaySo) {
  const auto file = scratch() / "requests.jsonl";
  std::ofstream(file)
      << R"({"id":"a","model":"Qwen/Qwen3-8B","system":"h200_sxm","isl":128,"osl":512,"concurrency":8})"
      << "\nnot json\n"
      << R"({"id":"c","model":"Qwen/Qwen3-8B","system":"h201","isl":1,"osl":1})"
      << "\n\n"
      << R"({"id":"d","model":"Qwen/Qwen3-8B","system":"h200_sxm","isl":1,"osl":1,"bad":1})"
      << "\n"
      << R"({"id":"e","model":"Qwen/Qwen3-8B","system":"h200_sxm","isl":128,"osl":64,"concurrency":2})";
  const Ran ran = run("aiconf estimate --requests " + file.string(), "HF_HUB_OFFLINE=1");
  EXPECT_EQ(ran.code, 0);
  std::istringstream out(ran.out);
  std::vector<json> answers;
  for (std::string line; std::getline(out, line);) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 6u);
  EXPECT_EQ(answers[0]["id"], "a");
  EXPECT_GT(answers[0]["ttft_ms"], 0);
  for (const std::size_t bad : {1u, 2u, 3u, 4u}) {
    EXPECT_TRUE(answers[bad]["error"].is_string()) << bad;
    EXPECT_EQ(answers[bad].size(), 2u) << bad;
  }
  EXPECT_EQ(answers[2]["id"], "c");
  EXPECT_EQ(answers[5]["id"], "e");
}

TEST(Requests, AnIdMayBeANumberAndOnlyBadLinesAreExitCode2) {
  const auto file = scratch() / "requests.jsonl";
  std::ofstream(file)
      << R"({"id":17,"model":"Qwen/Qwen3-8B","system":"h200_sxm","isl":128,"osl":5,"framework":"vllm"})"
      << "\n"
      << R"({"id":{},"model":"Qwen/Qwen3-8B","system":"h200_sxm","isl":1,"osl":1})"
      << "\n";
  const Ran ran = run("aiconf estimate --requests " + file.string());
  EXPECT_EQ(ran.code, 0) << ran.err;
  const json first = json::parse(ran.out.substr(0, ran.out.find('\n')));
  EXPECT_EQ(first["id"], 17);
  EXPECT_GT(first["ttft_ms"], 0);
  EXPECT_NE(ran.out.find("id: expected text or a number"), std::string::npos) << ran.out;
  std::ofstream(file) << "{}\n[]\n";
  const Ran bad = run("aiconf estimate --requests " + file.string());
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(lines(bad.out), 2u);
  EXPECT_NE(bad.err.find("none of 2 lines"), std::string::npos) << bad.err;
}

TEST(Support, EveryFrameworkSaysWhatItsOperatorsRestOn) {
  const json result = document(run("aiconf support " + kDense + "--json"));
  ASSERT_EQ(result["frameworks"].size(), 3u);
  for (const auto& framework : result["frameworks"]) {
    EXPECT_NEAR(framework["steps"]["decode"]["evidence"]["roofline"].get<double>(), 1, 1e-9);
    EXPECT_GT(framework["steps"]["prefill"]["ops"].size(), 5u);
  }
}

}  // namespace
}  // namespace setpoint::cli_test
