// SPDX-License-Identifier: Apache-2.0
// `aiconf generate` and `aiconf search --save` as a shell runs them. Priced by the roofline: no
// database is needed.
#include <sys/stat.h>

#include <map>

#include "base/json.h"
#include "base/sha256.h"
#include "program.h"

namespace {

using namespace setpoint::cli_test;
using setpoint::base::Json;
namespace fs = std::filesystem;

const std::string kAgg =
    "--model Qwen/Qwen3-32B --system h200_sxm --framework vllm --data roofline --tp 2 --batch 64";
const std::string kPools =
    "--model Qwen/Qwen3-32B --system h200_sxm --data roofline --mode disagg --prefill "
    "tp=1,batch=1,workers=2 --decode tp=2,batch=40 ";

class Generate : public testing::Test {
 protected:
  void SetUp() override {
    out_ = scratch() / "launch";
    fs::remove_all(out_);
  }
  Ran generate(const std::string& flags) const {
    return run("aiconf generate " + flags + " --out " + out_.string());
  }
  // Every file below a folder by its path there.
  static std::map<std::string, std::string> files(const fs::path& folder) {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) {
        out[fs::relative(entry.path(), folder).string()] = slurp(entry.path());
      }
    }
    return out;
  }
  fs::path out_;
};

TEST_F(Generate, WritesTheFilesAndPrintsThem) {
  const Ran ran = generate(kAgg);
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto written = files(out_);
  EXPECT_EQ(lines(ran.out), written.size());
  for (const auto& [path, text] : written) {
    EXPECT_NE(ran.out.find((out_ / path).string() + "\n"), std::string::npos) << path;
  }
  EXPECT_TRUE(written.contains("plan.json"));
  EXPECT_TRUE(written.contains("bench.sh"));
  const Json plan = Json::parse(written.at("plan.json"));
  EXPECT_EQ(plan["settings"]["roles"][0]["max_requests"], 64);
  for (const auto& file : plan["files"]) {
    const std::string& text = written.at(file["path"].get<std::string>());
    EXPECT_EQ(file["sha256"], setpoint::base::sha256_hex(text)) << file["path"];
  }
  struct stat script {};
  ASSERT_EQ(stat((out_ / "run_node0.sh").c_str(), &script), 0);
  EXPECT_NE(script.st_mode & S_IXUSR, 0u);
}

TEST_F(Generate, JsonIsOneDocumentWithFilesSettingsAndWarnings) {
  const Ran ran = generate(kAgg + " --json --framework-version 0.24.1");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json document = Json::parse(ran.out);
  EXPECT_EQ(document["out"], out_.string());
  EXPECT_EQ(document["files"].size(), files(out_).size());
  EXPECT_EQ(document["plan"]["versions"]["engine"], "0.24.1");
  EXPECT_EQ(document["plan"]["versions"]["flags"], "0.24.0");
  ASSERT_FALSE(document["plan"]["warnings"].empty());
  EXPECT_NE(ran.err.find("note: "), std::string::npos);
}

TEST_F(Generate, NeverWritesOverAFileWithoutForce) {
  ASSERT_EQ(generate(kAgg).code, 0);
  { std::ofstream(out_ / "run_node0.sh") << "mine"; }
  const auto before = files(out_);
  const Ran again = generate(kAgg);
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("exists: give --force"), std::string::npos) << again.err;
  EXPECT_EQ(files(out_), before);
  EXPECT_EQ(generate(kAgg + " --force").code, 0);
  EXPECT_NE(files(out_), before);
}

TEST_F(Generate, WritesAllFilesOrNone) {
  // A folder stands where a file belongs: nothing appears, even with --force.
  fs::create_directories(out_ / "plan.json");
  EXPECT_EQ(generate(kAgg + " --force").code, 2);
  EXPECT_TRUE(files(out_).empty());
  // A file stands where the folder belongs.
  fs::remove_all(out_);
  { std::ofstream(out_) << "file"; }
  EXPECT_EQ(generate(kAgg).code, 2);
  EXPECT_EQ(slurp(out_), "file");
  fs::remove(out_);
  // No space left: nothing appears, not even the folder.
  const Ran full = run("aiconf generate " + kAgg + " --out /dev/full/x");
  EXPECT_NE(full.code, 0);
  EXPECT_EQ(lines(full.err), 1u) << full.err;
}

TEST_F(Generate, ADiskThatFillsUpLeavesTheFolderAsItWas) {
  ASSERT_EQ(generate(kAgg).code, 0);
  const auto before = files(out_);
  // No file may grow beyond one block: the larger ones fail half way.
  const std::string command =
      "sh -c 'ulimit -f 1; trap \"\" XFSZ; " SETPOINT_BINARY_DIR "/bin/aiconf generate " + kAgg +
      " --force --port 9000 --out " + out_.string() + "' >/dev/null 2>&1";
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_EQ(files(out_), before);
}

TEST_F(Generate, RoundTripsWhatASearchSaved) {
  const auto saved = scratch() / "saved";
  fs::remove_all(saved);
  const std::string search =
      "aiconf search --model Qwen/Qwen3-32B-FP8 --system h200_sxm --gpus 8 --framework vllm "
      "--tpot 30 --data roofline --save " +
      saved.string();
  const Ran first = run(search);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.err.find("launch files for target run: agg-1"), std::string::npos) << first.err;
  EXPECT_NE(first.err.find("launch files for target dynamo: disagg-1"), std::string::npos);
  const Json result = Json::parse(slurp(saved / "result.json"));
  for (const char* mode : {"agg", "disagg"}) {
    for (std::size_t rank = 1; rank <= result[mode]["configs"].size(); ++rank) {
      const auto there = saved / (std::string(mode) + "-" + std::to_string(rank));
      ASSERT_TRUE(fs::exists(there)) << there;
      const std::string target = std::string(mode) == "agg" ? "run" : "dynamo";
      const Ran ran = generate("--from " + (saved / "result.json").string() + " --mode " + mode +
                               " --rank " + std::to_string(rank) + " --target " + target);
      ASSERT_EQ(ran.code, 0) << ran.err;
      EXPECT_EQ(files(out_), files(there));
      fs::remove_all(out_);
    }
  }
  // Again into the same folder: only with --force.
  EXPECT_EQ(run(search).code, 2);
  EXPECT_EQ(run(search + " --force").code, 0);
}

TEST_F(Generate, AnEditedResultIsSaidRefusedOrJudged) {
  const Ran estimate = run("aiconf estimate --json " + kAgg);
  ASSERT_EQ(estimate.code, 0) << estimate.err;
  const auto path = scratch() / "edited.json";
  const auto edited = [&](const char* pointer, const Json& value) {
    Json document = Json::parse(estimate.out);
    document[Json::json_pointer(pointer)] = value;
    { std::ofstream(path) << document; }
    return generate("--from " + path.string());
  };
  const Ran figure = edited("/tpot_ms", 1.25);
  EXPECT_EQ(figure.code, 0) << figure.err;
  EXPECT_NE(figure.err.find("tpot_ms"), std::string::npos) << figure.err;
  const Json plan = Json::parse(slurp(out_ / "plan.json"));
  EXPECT_EQ(plan["stated"]["tpot_ms"], 1.25);
  EXPECT_NE(plan["predicted"]["tpot_ms"], 1.25);
  EXPECT_EQ(edited("/workers/0/batch", 9000000).code, 1);
  EXPECT_EQ(edited("/workers/0/tp", 3).code, 2);
  EXPECT_EQ(edited("/workers/0/tp", "x").code, 2);
  EXPECT_EQ(edited("/inputs/colour", "red").code, 2);
}

TEST_F(Generate, WhatATargetCannotRunIsRefusedWithThoseThatCan) {
  for (const char* target : {"run", "compose", "slurm", "k8s"}) {
    const Ran ran = generate(kPools + "--framework vllm --target " + target);
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.err.find("no router of its own"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("targets that can: dynamo, llm-d\n"), std::string::npos) << ran.err;
    EXPECT_FALSE(fs::exists(out_));
  }
  const Ran hosts = generate(kAgg + " --gpus 16 --target compose");
  EXPECT_EQ(hosts.code, 1);
  EXPECT_NE(hosts.err.find("targets that can: run"), std::string::npos) << hosts.err;
}

TEST_F(Generate, WrongInputIsOneLine) {
  for (const std::string& flags :
       {std::string("--rank 2 ") + kAgg, kAgg + " --port 0", kAgg + " --namespace No",
        kAgg + " --target nomad", kAgg + " --framework-version 0.1.0",
        std::string("--from x.json --model m"),
        std::string(
            "--model Qwen/Qwen3-32B --system h200_sxm --mode static --batch 4 --framework vllm")}) {
    const Ran ran = generate(flags);
    EXPECT_EQ(ran.code, 2) << flags << ran.err;
    EXPECT_EQ(lines(ran.err), 1u) << ran.err;
    EXPECT_TRUE(ran.out.empty());
    EXPECT_FALSE(fs::exists(out_));
  }
  EXPECT_EQ(run("aiconf generate " + kAgg).code, 2);  // no --out
  EXPECT_EQ(generate("--from /nowhere.json").code, 3);
}

}  // namespace
