// SPDX-License-Identifier: Apache-2.0
#include "recipe/step_log.h"

#include <gtest/gtest.h>

#include <cmath>

namespace setpoint::recipe {
namespace {

TEST(StepLog, ReadsMegatronsLines) {
  const auto steps = read_steps(
      " iteration        2/    5000 | consumed samples:           32 | elapsed time per iteration "
      "(ms): 54568.1 | learning rate: 2.500E-08 | global batch size:    16 | lm loss: 1.519366E+00 "
      "| "
      "loss scale: 1.0 | grad norm: 41.408 | number of skipped iterations:   0 | number of nan "
      "iterations:   0 |\n"
      " [2026-01-05 10:00:00] iteration        3/    5000 | consumed samples:           48 | "
      "elapsed "
      "time per iteration (ms): 8493.8 | lm loss: 1.502081E+00 | load_balancing_loss: 1.1E+00 | "
      "grad norm: 40.992 | number of skipped iterations:   1 | number of nan iterations:   2 |\n",
      "a.log");
  ASSERT_TRUE(steps.ok()) << steps.error().text;
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[0].step, 2);
  EXPECT_DOUBLE_EQ((*steps)[0].loss, 1.519366);
  EXPECT_DOUBLE_EQ(*(*steps)[0].grad_norm, 41.408);
  EXPECT_EQ((*steps)[1].time, Ms(8493.8));
  EXPECT_EQ((*steps)[1].skipped, 1);
  EXPECT_EQ((*steps)[1].invalid, 2);
}

TEST(StepLog, ReadsTorchTitansColouredLinesOfOneRank) {
  const auto steps = read_steps(
      "[rank0]:[titan] 2025-11-25 19:45:01,441 - root - INFO - \x1b[31mstep:  1  \x1b[32mloss:  "
      "8.0277  \x1b[38;2;180;60;0mgrad_norm:  1.4604  \x1b[0mmemory:  1.21GiB(0.86%)  tps: 5,756  "
      "tflops: 0.41  mfu: 0.04%\n"
      "[rank1]:[titan] 2025-11-25 19:45:01,441 - root - INFO - step:  1  loss:  8.0277  grad_norm: "
      " 1.4604  memory:  1.21GiB(0.86%)  tps: 5,700  tflops: 0.41  mfu: 0.04%\n"
      "[rank0]:[titan] 2025-11-25 19:45:02,441 - root - INFO - step:  2  loss:  nan  grad_norm:  "
      "inf  memory:  1.21GiB(0.86%)  tps: 9,756  tflops: 0.41  mfu: 0.04%\n",
      "a.log");
  ASSERT_TRUE(steps.ok()) << steps.error().text;
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_DOUBLE_EQ((*steps)[0].loss, 8.0277);
  EXPECT_DOUBLE_EQ(*(*steps)[0].tokens_per_s, 5756);
  EXPECT_TRUE(std::isnan((*steps)[1].loss));
  EXPECT_TRUE(std::isinf(*(*steps)[1].grad_norm));
}

TEST(StepLog, ReadsDeepSpeedsPipelineAndTheTrainerAroundIt) {
  const auto pipeline =
      read_steps("steps: 10 loss: 3.4567 iter time (s): 0.123 samples/sec: 260.1\n", "a");
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ((*pipeline)[0].step, 10);
  EXPECT_EQ((*pipeline)[0].time, Ms(123));
  const auto trainer = read_steps(
      "{'loss': 2.34, 'grad_norm': 1.25, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
      "{'loss': 2.30, 'grad_norm': 1.20, 'learning_rate': 1e-05, 'epoch': 0.2}\n",
      "a");
  ASSERT_TRUE(trainer.ok());
  ASSERT_EQ(trainer->size(), 2U);
  EXPECT_DOUBLE_EQ(*(*trainer)[1].grad_norm, 1.2);
}

TEST(StepLog, RefusesAStepStatedTwiceAndALogWithoutSteps) {
  const std::string line = "step:  1  loss:  8.0277  grad_norm:  1.4604  tps: 5,756\n";
  const auto forged =
      read_steps(line + "step:  1  loss:  8.0000  grad_norm:  1.4  tps: 9,999\n", "a");
  ASSERT_FALSE(forged.ok());
  EXPECT_NE(forged.error().text.find("step 1 is stated after step 1"), std::string::npos);
  EXPECT_FALSE(read_steps("hello\n", "a").ok());
}

}  // namespace
}  // namespace setpoint::recipe
