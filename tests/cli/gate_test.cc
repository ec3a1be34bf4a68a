// SPDX-License-Identifier: Apache-2.0
// attune gate as a CI calls it: exit codes, the first line, one line for what is wrong.
#include "program.h"

namespace setpoint::cli_test {
namespace {

constexpr const char* kBlock =
    "------------------------ arguments ------------------------\n"
    "  global_batch_size ............................... 256\n"
    "  mmap_bin_files .................................. False\n"
    "  num_layers ...................................... 12\n"
    "  num_distributed_optimizer_instances ............. 1\n"
    "  pipeline_model_parallel_size .................... 1\n"
    "-------------------- end of arguments ---------------------\n";

class GateCommand : public testing::Test {
 protected:
  const std::filesystem::path folder_ = scratch();

  std::string file(const std::string& name, std::string text, const std::string& from = "",
                   const std::string& to = "") const {
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::string command(const std::string& candidate) const {
    return "attune gate --framework-version 0.19.1 --original " + file("a.log", kBlock) +
           " --candidate " + candidate;
  }
};

TEST_F(GateCommand, SaysUnchangedPassReviewAndRejectByExitCode) {
  const Ran same = run(command(file("b.log", kBlock)));
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_TRUE(same.out.starts_with("unchanged: ")) << same.out;

  const Ran pass = run(command(file("b.log", kBlock, "s .................................. False",
                                    "s .................................. True")));
  EXPECT_EQ(pass.code, 0) << pass.out;
  EXPECT_TRUE(pass.out.starts_with("pass: ")) << pass.out;

  const std::string with_review =
      command(file("c.log", kBlock, "  num_layers",
                   "  new_flag ........................................ 1\n  num_layers"));
  const Ran review = run(with_review);
  EXPECT_EQ(review.code, 1) << review.out;
  EXPECT_TRUE(review.out.starts_with("review: new_flag")) << review.out;
  EXPECT_EQ(run(with_review + " --allow-review").code, 0);

  const std::string other = command(file("b.log", kBlock, ". 256", ". 512"));
  const Ran reject = run(other);
  EXPECT_EQ(reject.code, 1);
  EXPECT_TRUE(reject.out.starts_with("reject: global_batch_size (batch)")) << reject.out;
  EXPECT_EQ(run(other + " --allow-review").code, 1);
  for (const std::string& text : {pass.out, review.out, reject.out}) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST_F(GateCommand, PrintsOneJsonDocument) {
  const Ran ran = run(command(file("b.log", kBlock, ". 256", ". 512")) + " --json");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("\"verdict\": \"reject\""), std::string::npos);
  EXPECT_NE(ran.out.find("\"effective_hash\": \""), std::string::npos);
  EXPECT_NE(ran.out.find("\"after\": null"), std::string::npos);
}

TEST_F(GateCommand, JudgesTheFirstStepsWhereLogsAreGiven) {
  const std::string steps =
      " iteration 1/ 2 | lm loss: 2.0E+00 | grad norm: 1.0 |\n"
      " iteration 2/ 2 | lm loss: 1.9E+00 | grad norm: 1.0 |\n";
  const std::string candidate = file("b.log", kBlock, "s .................................. False",
                                     "s .................................. True");
  const std::string logs = " --original-log " + file("s.log", steps) + " --candidate-log ";
  EXPECT_EQ(run(command(candidate) + logs + file("t.log", steps)).code, 0);
  const Ran wrong = run(command(candidate) + logs + file("u.log", steps, "2.0E", "2.2E"));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.out.find("after launch: fail"), std::string::npos) << wrong.out;
  const Ran forged = run(command(candidate) + logs + file("v.log", steps + steps));
  EXPECT_EQ(forged.code, 2);
  EXPECT_EQ(lines(forged.err), 1U) << forged.err;
}

TEST_F(GateCommand, RefusesBadInputInOneLine) {
  for (const std::string& bad :
       {file("bad1", ""), file("bad2", "hello"), file("bad3", "{\"framework\": 1}"),
        file("bad4", std::string(2000, '[')), file("bad5", "{\"a\": " + std::string(2000, '[')),
        file("bad6", "model: {a: \"\xff\"}\ntrain: {}\n"), file("bad7", "A=1\n")}) {
    const Ran ran = run(command(bad));
    EXPECT_EQ(ran.code, 2) << bad << ran.out;
    EXPECT_EQ(lines(ran.err), 1U) << ran.err;
    EXPECT_TRUE(ran.out.empty());
  }
  EXPECT_EQ(run(command("/nonexistent")).code, 3);
  const Ran missing = run("attune gate --original x");
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(lines(missing.err), 1U);
}

}  // namespace
}  // namespace setpoint::cli_test
