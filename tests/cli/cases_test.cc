// SPDX-License-Identifier: Apache-2.0
// Cases reported from the field, typed as their reporters would: whole commands. Where the imported
// tables are absent the embedded model answers; what is asserted holds for both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/program.h"

namespace setpoint::cli_test {
namespace {

using nlohmann::json;

json document(const std::string& line) {
  const Ran ran = run(line, "HF_HUB_OFFLINE=1");
  EXPECT_TRUE(json::accept(ran.out)) << line << ran.err;
  return json::accept(ran.out) ? json::parse(ran.out) : json();
}

// The flags of `estimate` that describe one worker; for a pool, as one K=V list.
std::string worker_flags(const json& worker, bool pool) {
  std::string out;
  for (const auto& [flag, key] :
       std::vector<std::pair<std::string, std::string>>{{"tp", "tp"},
                                                        {"pp", "pp"},
                                                        {"dp", "dp"},
                                                        {"cp", "cp"},
                                                        {"ep", "moe_ep"},
                                                        {pool ? "moe_tp" : "moe-tp", "moe_tp"},
                                                        {"batch", "batch"}}) {
    const int value = worker[key].get<int>();
    out += pool ? fmt::format("{}={},", flag, value) : fmt::format("--{} {} ", flag, value);
  }
  return out + (pool ? fmt::format("workers={} ", worker["count"].get<int>()) : "");
}

std::string estimate_flags(const json& row) {
  const json& workers = row["workers"];
  if (row["mode"] == "disagg") {
    return "--prefill " + worker_flags(workers[0], true) + "--decode " +
           worker_flags(workers[1], true);
  }
  return worker_flags(workers[0], false) +
         fmt::format("--max-num-tokens {} ", workers[0]["max_num_tokens"].get<int>());
}

// aiconfigurator#1511: what a search recommends, a single estimate accepts, to the last digit.
TEST(Case, EveryRowOfASearchIsEstimatedWithTheSameDigits) {
  for (const char* model : {"Qwen/Qwen3-32B-FP8", "nvidia/Kimi-K2.5-NVFP4"}) {
    const std::string head = fmt::format("--model {} --system b200_sxm --framework vllm ", model);
    const json result = document("aiconf search --json --gpus 16 " + head);
    int rows = 0;
    for (const char* mode : {"agg", "disagg"}) {
      for (const json& row : result[mode]["configs"]) {
        const json again = document(fmt::format("aiconf estimate --json --gpus 16 --mode {} {}{}",
                                                mode, head, estimate_flags(row)));
        for (const auto& [key, value] : row.items()) EXPECT_EQ(again[key], value) << key;
        ++rows;
      }
    }
    EXPECT_EQ(rows, 10) << model;
  }
}

// aiconfigurator#912: with the latent cache at its true size, far more than 16 requests fit.
TEST(Case, ALatentCacheLetsASearchReachManyRequests) {
  const json result = document(
      "aiconf search --model moonshotai/Kimi-K2.5 --system b200_sxm --gpus 8 --framework vllm "
      "--isl 8000 --osl 1000 --mode agg --json");
  ASSERT_FALSE(result["agg"]["configs"].empty());
  EXPECT_GE(result["agg"]["configs"][0]["concurrency"].get<double>(), 64);
}

// aiconfigurator#687: a small MoE model is never spread over more GPUs than a node holds.
TEST(Case, ASmallMoeModelGetsNoWorkerThatNobodyCanSchedule) {
  const json result = document(
      "aiconf search --model Qwen/Qwen3-30B-A3B --system h200_sxm --gpus 8 --top 50 --json");
  int workers = 0;
  for (const char* mode : {"agg", "disagg"}) {
    for (const json& row : result[mode]["configs"]) {
      for (const json& w : row["workers"]) {
        const int gpus =
            w["tp"].get<int>() * w["pp"].get<int>() * w["dp"].get<int>() * w["cp"].get<int>();
        EXPECT_LE(gpus, 8);
        EXPECT_LE(w["moe_ep"].get<int>() * w["moe_tp"].get<int>(), 8);
        ++workers;
      }
    }
  }
  EXPECT_GT(workers, 20);
}

// aiconfigurator#979: a NaN row is counted by number and changes no answer.
TEST(Case, ANanRowLeavesTheFrontAsItIs) {
  const auto folder = scratch();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::string rows = "op,system,framework,version,gemm_dtype,n,k,m,latency_ms\n";
  for (const int m : {1, 16, 256, 4096}) {
    rows += fmt::format("gemm,h200_sxm,vllm,0.24.0,bfloat16,4096,4096,{},{}\n", m, 0.02 + 3e-5 * m);
  }
  std::ofstream(folder / "good.csv") << rows;
  std::ofstream(folder / "bad.csv")
      << rows << "gemm,h200_sxm,vllm,0.24.0,bfloat16,4096,4096,64,nan\n";
  std::vector<json> answers;
  for (const std::string name : {"good", "bad"}) {
    const auto db = (folder / (name + ".db")).string();
    const Ran imported =
        run("aiconf db import " + (folder / (name + ".csv")).string() + " --db " + db);
    ASSERT_EQ(imported.code, 0) << imported.err;
    if (name == "bad") {
      EXPECT_NE((imported.out + imported.err).find("line 6"), std::string::npos)
          << imported.out << imported.err;
    }
    json result = document(
        "aiconf search --model Qwen/Qwen3-8B --system h200_sxm --gpus 8 --framework vllm --json "
        "--db " +
        db);
    answers.push_back(json{{"agg", result["agg"]}, {"disagg", result["disagg"]}});
  }
  EXPECT_GT(answers[0]["agg"]["frontier"].size(), 3u);
  EXPECT_EQ(answers[0], answers[1]);
}

// aiconfigurator#1479: between neighbouring batches nothing jumps. Below 64 a batch grows by more
// than 2 % a step itself.
TEST(Case, DecodeAttentionHasNoStepBetweenNeighbouringBatches) {
  const char* given = std::getenv("SETPOINT_DB");
  const std::filesystem::path database =
      given != nullptr ? given : SETPOINT_BINARY_DIR "/share/setpoint/perfdb.db";
  if (!std::filesystem::exists(database)) {
    GTEST_SKIP() << "no imported database at " << database << ": run scripts/test";
  }
  const auto file = scratch() / "queries.jsonl";
  {
    std::ofstream out(file);
    for (int batch = 1; batch <= 1024; ++batch) {
      out << json{{"op", "generation_attention"},
                  {"heads", 64},
                  {"kv_heads", 8},
                  {"head_dim", 128},
                  {"kv", "bfloat16"},
                  {"seq", 4000},
                  {"batch", batch}}
          << "\n";
    }
  }
  const Ran ran = run("aiconf db query --system b200_sxm --framework sglang --db " +
                      database.string() + " --requests " + file.string());
  std::istringstream out(ran.out);
  std::vector<double> ms;
  for (std::string line; std::getline(out, line);) ms.push_back(json::parse(line)["ms"]);
  ASSERT_EQ(ms.size(), 1024u) << ran.err;
  for (std::size_t batch = 1; batch < ms.size(); ++batch) {
    const double growth = 1 / static_cast<double>(batch), step = ms[batch] / ms[batch - 1] - 1;
    EXPECT_LT(step, std::max(0.02, 1.3 * growth)) << batch;
    EXPECT_GT(step, -0.04) << batch;
  }
}

// Renaming a finished file over a device would replace the device.
TEST(Outputs, DevicesAndLinksAreWrittenThrough) {
  const std::string search =
      "aiconf search --model Qwen/Qwen3-8B --system h200_sxm --gpus 1 --data roofline --csv ";
  const Ran full = run(search + "/dev/full");
  EXPECT_EQ(full.code, 3) << full.err;
  EXPECT_EQ(lines(full.err), 1u) << full.err;
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  const auto link = scratch() / "link.csv", target = scratch() / "target.csv";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(target, link);
  EXPECT_EQ(run(search + link.string()).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_GT(std::filesystem::file_size(target), 1000u);
}

TEST(Outputs, AClosedStandardErrorIsNoSecondError) {
  const std::string command = SETPOINT_BINARY_DIR "/bin/aiconf nonsense >/dev/null 2>&-";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
}

// Weights that do not fit are the answer "no", as a document like any other.
TEST(Case, AModelThatDoesNotFitIsAnAnswer) {
  const std::string line =
      "aiconf estimate --model meta-llama/Meta-Llama-3.1-70B --system h100_sxm --batch 1 ";
  const Ran ran = run(line + "--json");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "");
  EXPECT_NE(json::parse(ran.out)["error"].get<std::string>().find("131.4 GiB"), std::string::npos);
  EXPECT_EQ(run(line + "--tp 2").code, 0);
}

TEST(Case, RequestsLongerThanTheModelAllowsAreSaid) {
  const std::string line =
      "aiconf search --model Qwen/Qwen3-32B-FP8 --system h200_sxm --gpus 8 --json ";
  EXPECT_TRUE(document(line)["inputs"]["warnings"].empty());
  const json warned = document(line + "--isl 100000")["inputs"]["warnings"];
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_NE(warned[0].get<std::string>().find("40960 positions"), std::string::npos) << warned[0];
}

TEST(Inputs, AFlagGivenTwiceIsCalledThat) {
  const Ran ran = run("aiconf search --model Qwen/Qwen3-8B --system h200_sxm --gpus 8 --gpus 4");
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("--gpus: given more than once"), std::string::npos) << ran.err;
}

TEST(Inputs, AnErrorIsShortHoweverLongTheInput) {
  const std::string many(20000, 'x');
  for (const char* flag : {"--db ", "--framework vllm --framework-version ", "--quant "}) {
    const Ran ran = run(std::string("aiconf search --model Qwen/Qwen3-8B --system h200_sxm ") +
                        "--gpus 8 " + flag + many);
    EXPECT_LT(ran.err.size(), 1100u) << flag;
  }
}

TEST(Requests, AnIdMayBeANumberAndBadBytesCostOnlyTheirLine) {
  const auto file = scratch() / "requests.jsonl";
  const std::string rest = R"("system":"h200_sxm","isl":128,"osl":64})";
  std::ofstream(file) << R"({"id":7,"model":"Qwen/Qwen3-8B",)" << rest << "\n\xff\xfe\n"
                      << "{\"id\":\"\xff\",\"model\":\"Qwen/Qwen3-8B\"," << rest << "\n"
                      << R"({"id":[1],"model":"Qwen/Qwen3-8B",)" << rest << "\n"
                      << R"({"model":"Qwen/Qwen3-8B",)" << rest << "\n"
                      << R"({"id":8.5,"model":"Qwen/Qwen3-9B",)" << rest;
  const Ran ran = run("aiconf estimate --requests " + file.string(), "HF_HUB_OFFLINE=1");
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::istringstream out(ran.out);
  std::vector<json> answers;
  for (std::string line; std::getline(out, line);) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 6u);
  EXPECT_EQ(answers[0]["id"], 7);
  EXPECT_GT(answers[0]["ttft_ms"], 0);
  for (const std::size_t bad : {1u, 2u, 3u, 5u}) EXPECT_TRUE(answers[bad].contains("error")) << bad;
  EXPECT_TRUE(answers[4]["id"].is_null());
  EXPECT_GT(answers[4]["ttft_ms"], 0);
  EXPECT_EQ(answers[5]["id"], 8.5);
  const Ran folder = run("aiconf estimate --requests " + scratch().string());
  EXPECT_EQ(folder.code, 2);
  EXPECT_NE(folder.err.find("is a folder"), std::string::npos) << folder.err;
}

// The way out that the same memory model would take.
TEST(Case, AModelThatDoesNotFitNamesWhatWould) {
  const std::string big = "--model meta-llama/Meta-Llama-3.1-70B --system h100_sxm ";
  const Ran cut = run("aiconf estimate " + big + "--batch 1");
  EXPECT_NE(cut.err.find("would fit: 2 GPUs (tp2), --precision fp8"), std::string::npos) << cut.err;
  EXPECT_EQ(run("aiconf estimate " + big + "--batch 1 --precision fp8").code, 0);
  const Ran search = run("aiconf search " + big + "--gpus 1");
  EXPECT_EQ(search.code, 1);
  EXPECT_NE(search.out.find("would fit: 2 GPUs"), std::string::npos) << search.out;
  const Ran length =
      run("aiconf estimate --model Qwen/Qwen3-32B --system h100_sxm --framework "
          "vllm --isl 60000 --batch 1 --json");
  EXPECT_EQ(length.code, 1);
  EXPECT_NE(length.out.find("requests of at most"), std::string::npos) << length.out;
}

TEST(Case, ATpotBoundWithOneOutputTokenIsSaidNotToBind) {
  const json one = document(
      "aiconf search --model Qwen/Qwen3-8B --system h200_sxm --gpus 1 --osl 1 --tpot 20 --json");
  EXPECT_NE(one["inputs"]["warnings"].dump().find("TPOT bound cannot bind"), std::string::npos);
}

TEST(Case, SettingsThatDoNotActYetAreAnsweredWithAWarning) {
  const auto file = scratch() / "requests.jsonl";
  std::ofstream(file) << R"({"model":"Qwen/Qwen3-8B","system":"h200_sxm","isl":8,"osl":8,)"
                      << R"("framework":"vllm","poll_steps":10,"prompt_cache":true})";
  const json answer = document("aiconf estimate --requests " + file.string());
  const std::string warnings = answer["inputs"]["warnings"].dump();
  EXPECT_NE(warnings.find("poll_steps"), std::string::npos) << warnings;
  EXPECT_NE(warnings.find("prompt_cache"), std::string::npos) << warnings;
}

// Missing or unreadable is the environment's failure, there but wrong the input's, for every flag.
TEST(Case, FilesThatCannotBeReadAndFilesThatAreWrongHaveOneCodeEach) {
  const std::string ask = "aiconf estimate --model Qwen/Qwen3-8B --system h200_sxm --batch 1 ";
  const auto wrong = scratch() / "wrong";
  std::ofstream(wrong) << "neither a database nor a request\n";
  for (const std::string& line :
       {ask + "--db ", std::string("aiconf estimate --requests "),
        std::string("aiconf db query --system h200_sxm --framework vllm --requests "),
        std::string("aiconf db verify --db ")}) {
    EXPECT_EQ(run(line + "/nonexistent/file").code, 3) << line;
    EXPECT_EQ(run(line + scratch().string()).code, 2) << line;
    EXPECT_EQ(run(line + wrong.string()).code, 2) << line;
  }
}

TEST(Case, AGpuDescribedByTheUserIsSaidOnceToRestOnTheRoofline) {
  const Ran ran =
      run("aiconf search --model Qwen/Qwen3-8B --system a40 --gpus 1 --framework vllm "
          "--spec mem=48,bw=696,bf16=149.7");
  EXPECT_NE(ran.out.find("the roofline alone"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("embedded model"), std::string::npos) << ran.out;
}

TEST(Case, HelpShowsWholeNumbersWhole) {
  const Ran ran = run("aiconf search --help");
  EXPECT_NE(ran.out.find("--isl TOKENS [4000] "), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find(".0]"), std::string::npos) << ran.out;
}

TEST(Case, NamesOfOneShapeAreOneModel) {
  const std::string ask = " --system h200_sxm --tp 4 --batch 1 --json --framework vllm";
  const json a = document("aiconf estimate --model meta-llama/Llama-3.3-70B-Instruct" + ask);
  const json b = document("aiconf estimate --model meta-llama/Llama-3.1-70B-Instruct" + ask);
  EXPECT_EQ(a["tpot_ms"], b["tpot_ms"]);
}

}  // namespace
}  // namespace setpoint::cli_test
