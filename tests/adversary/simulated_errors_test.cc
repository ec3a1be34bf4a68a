// SPDX-License-Identifier: Apache-2.0
// Two halves that were written apart: the simulated cluster leaves the files of a run, and the
// judge, the recipe reader and the profiler read them as they read a real one's. Each error that is
// planted into the run has to show in the signals that such an error moves.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "cluster/sim/log_text.h"
#include "judge/signals.h"
#include "profile/split.h"
#include "recipe/recipe.h"
#include "recipe/step_log.h"

namespace setpoint {
namespace {

recipe::FinalValues values() {
  std::ifstream in(SETPOINT_SOURCE_DIR "/recipes/train/megatron-bridge/qwen3-30b-h100.json");
  std::stringstream text;
  text << in.rdbuf();
  const auto recipe = recipe::parse_recipe(text.str(), "recipe");
  EXPECT_TRUE(recipe) << recipe.error().text;
  return {recipe->framework, recipe->version, recipe->settings, recipe->environment, {}};
}

// The files of one run of 20 steps on 16 GPUs, with an error planted or without ("").
auto files_of(const recipe::FinalValues& values, const std::string& error,
              const std::string& lease) {
  cluster::SimSpec spec;
  spec.seed = 3;
  spec.machine.system = hw::find_system("h100_sxm").value();
  if (!error.empty()) {
    const base::Json json{{"error", error}};
    spec.faults.push_back(cluster::read_fault(base::JsonView(json, "fault")).value());
  }
  const cluster::RunInput input{values, "snapshot", lease, {"node-a", "node-b"}, 16, 7200};
  const auto plan = cluster::plan_run(spec, input);
  return cluster::run_files(spec, input, plan, 1.8e9, 1e6);
}

judge::Evidence evidence(const recipe::FinalValues& values, const std::string& error,
                         const std::string& lease) {
  auto files = files_of(values, error, lease);
  judge::Evidence out;
  const auto steps = recipe::read_steps(files["train.log"], "train.log");
  EXPECT_TRUE(steps) << steps.error().text;
  const auto signals = judge::read_signals(files["signals.jsonl"], "signals.jsonl");
  EXPECT_TRUE(signals) << signals.error().text;
  if (!steps || !signals) return out;
  out.steps = *steps;
  out.signals = *signals;
  return out;
}

std::set<std::string> failing(const std::string& error) {
  const recipe::FinalValues of = values();
  const auto findings =
      judge::judge_signals(judge::distances(evidence(of, "", "lease-0"),
                                            evidence(of, error, "lease-1"), judge::adamw_of(of)),
                           {});
  std::set<std::string> out;
  for (const auto& finding : findings) {
    if (finding.sign != judge::Sign::fail) continue;
    out.emplace(judge::signal_table()[static_cast<std::size_t>(finding.signal)].name);
  }
  return out;
}

TEST(SimulatedErrors, ARunWithoutOneFailsNoSignal) {
  EXPECT_EQ(failing(""), std::set<std::string>{});
}

TEST(SimulatedErrors, EachShowsInASignalThatSuchAnErrorMoves) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"forward_scale", "loss"},          {"label_shift", "correlation"},
      {"missing_sum", "tensor_norm"},     {"last_micro_batch", "norm"},
      {"scaled_group", "tensor_norm"},    {"partial_table", "direction"},
      {"misplaced_layers", "correlation"}};
  for (const auto& [error, signal] : cases) {
    const auto found = failing(error);
    EXPECT_TRUE(found.contains(signal)) << error << " does not fail " << signal;
  }
}

// Errors of the gradient alone leave the first loss as it is: a gate by the loss lets them through.
TEST(SimulatedErrors, TheFirstLossAloneSeesOnlyThoseOfTheForwardPass) {
  for (const char* error : {"missing_sum", "last_micro_batch", "scaled_group", "partial_table"}) {
    EXPECT_FALSE(failing(error).contains("loss")) << error;
  }
}

// Sums in BF16 lie inside the noise of legal changes: only the register can refuse them.
TEST(SimulatedErrors, SumsInBf16AreBeyondTheSignals) {
  EXPECT_EQ(failing("bf16_accumulation"), std::set<std::string>{});
}

TEST(SimulatedErrors, TheRunsTraceSplitsIntoPartsThatAddUp) {
  auto files = files_of(values(), "", "lease-0");
  const auto trace = profile::read_kineto(files["trace.json"], "");
  ASSERT_TRUE(trace) << trace.error().text;
  const auto steps = profile::split_steps(*trace);
  ASSERT_FALSE(steps.empty());
  for (const auto& step : steps) {
    const profile::Split& s = step.split;
    EXPECT_GT(s.compute_ms, 0);
    EXPECT_NEAR(s.compute_ms + s.communication_ms + s.host_ms + s.idle_ms, s.total_ms,
                1e-6 * s.total_ms);
  }
}

}  // namespace
}  // namespace setpoint
