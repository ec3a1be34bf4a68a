// SPDX-License-Identifier: Apache-2.0
// Synthetic runs: one weight matrix and a norm, whose AdamW step is computed here by hand, and then
// spoilt in one way at a time.
#include "judge/signals.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "setpoint/gate.h"

namespace setpoint::judge {
namespace {

constexpr AdamW kAdam{0.9, 0.95, 1e-8, 0.1, 1.0};
constexpr double kRate = 1e-3;

TensorSample sample(unsigned seed, bool decayed, double clip, const AdamW& adam = kAdam) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  TensorSample out;
  out.decayed = decayed;
  for (int i = 0; i < 64; ++i) {
    const double weight = normal(random), gradient = normal(random) * 0.1;
    const double first = normal(random) * 0.01, second = 0.01 + std::fabs(normal(random)) * 0.01;
    const double g = gradient * clip;
    const double m = adam.beta1 * first + (1 - adam.beta1) * g;
    const double v = adam.beta2 * second + (1 - adam.beta2) * g * g;
    const double scale1 = 1 - adam.beta1 * adam.beta1 * adam.beta1;  // step 3
    const double scale2 = 1 - adam.beta2 * adam.beta2 * adam.beta2;
    out.gradient.push_back(gradient);
    out.weight.push_back(weight);
    out.first_moment.push_back(first);
    out.second_moment.push_back(second);
    out.new_first_moment.push_back(m);
    out.new_second_moment.push_back(v);
    out.new_weight.push_back(weight - kRate * (m / scale1 / (std::sqrt(v / scale2) + adam.eps) +
                                               (decayed ? adam.weight_decay : 0) * weight));
    out.gradient_norm += gradient * gradient;
  }
  out.gradient_norm = std::sqrt(out.gradient_norm);
  return out;
}

Evidence evidence(const AdamW& adam = kAdam) {
  Evidence out;
  for (int step = 1; step <= 5; ++step) {
    recipe::StepLine& line = out.steps.emplace_back();
    line.step = step;
    line.loss = 2.2 - 0.01 * step;
    line.grad_norm = 2.0;
  }
  StepSignals& first = out.signals[1];
  const double clip = adam.clip > 0 ? adam.clip / (2.0 + 1e-6) : 1;
  first.optimizer_step = 3;
  first.loss = 2.19;
  first.gradient_norm = 2.0;
  first.learning_rate = kRate;
  first.tokens = 4096;
  first.dropped = 0;
  first.samples = "abc";
  first.mask = "def";
  first.random_state = {"r0", "r1"};
  first.tensors["qkv"] = sample(1, true, clip, adam);
  first.tensors["norm"] = sample(2, false, clip, adam);
  std::mt19937 random(5);
  std::normal_distribution<double> normal(2.2, 0.8);
  for (int i = 0; i < 200; ++i) first.token_loss.push_back(normal(random));
  for (int i = 0; i < 8; ++i) first.sequence_loss.push_back(2.0 + 0.1 * i);
  first.expert_load = {10, 20, 30, 40};
  return out;
}

Distances measured(const Evidence& run) { return distances(evidence(), run, kAdam); }

std::vector<std::string> failing(const Evidence& run) {
  std::vector<std::string> out;
  const std::vector<Distances> variants{measured(evidence())};
  for (const SignalFinding& found : judge_signals(measured(run), {variants, {}, false})) {
    if (found.sign == Sign::fail)
      out.emplace_back(signal_table()[static_cast<std::size_t>(found.signal)].name);
  }
  return out;
}

TEST(Signals, TableAndSignalsHaveOneOrder) {
  for (std::size_t i = 0; i < signal_table().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(signal_table()[i].signal), i);
  }
}

TEST(Signals, OfTheSameRunAllAgree) {
  const Distances same = measured(evidence());
  EXPECT_EQ(same[Signal::loss], 0);
  EXPECT_EQ(same[Signal::dropped], 0);
  EXPECT_LT(*same[Signal::replay], 1e-9);
  EXPECT_LT(*same[Signal::replay_moments], 1e-12);
  EXPECT_TRUE(failing(evidence()).empty());
}

using Names = std::vector<std::string>;

TEST(Signals, SeeAGradientThatLacksPartOfItsSum) {  // a planted error that no loss shows
  Evidence run = evidence();
  for (std::size_t i = 0; i < 32; ++i) run.signals[1].tensors["qkv"].gradient[i] *= 0.25;
  const auto found = failing(run);
  EXPECT_NE(std::find(found.begin(), found.end(), "gradient"), found.end());
  EXPECT_EQ(measured(run)[Signal::loss], 0);
  EXPECT_EQ(measured(run)[Signal::later_loss], 0);
}

TEST(Signals, SeeATensorWithoutGradient) {
  Evidence run = evidence();
  run.signals[1].tensors.erase("norm");
  EXPECT_EQ(failing(run), Names{"gradient"});
}

TEST(Signals, ReplayFindsOtherOptimizerConstants) {
  EXPECT_EQ(failing(evidence()), Names{});
  for (const AdamW& other : {AdamW{0.95, 0.95, 1e-8, 0.1, 1.0}, AdamW{0.9, 0.999, 1e-8, 0.1, 1.0},
                             AdamW{0.9, 0.95, 1e-2, 0.1, 1.0}, AdamW{0.9, 0.95, 1e-8, 0.0, 1.0},
                             AdamW{0.9, 0.95, 1e-8, 0.1, 0.0}}) {
    const auto found = failing(evidence(other));
    EXPECT_NE(std::find(found.begin(), found.end(), "replay"), found.end())
        << other.beta1 << " " << other.beta2 << " " << other.eps << " " << other.weight_decay;
  }
}

TEST(Signals, CompareExactlyWhatMustBeEqual) {
  const auto spoilt = [](auto change) {
    Evidence run = evidence();
    change(run.signals[1]);
    return failing(run);
  };
  EXPECT_EQ(spoilt([](StepSignals& s) { s.samples = "other"; }), Names{"samples"});
  EXPECT_EQ(spoilt([](StepSignals& s) { s.mask = "other"; }), Names{"mask"});
  EXPECT_EQ(spoilt([](StepSignals& s) { s.tokens = 4095; }), Names{"tokens"});
  EXPECT_EQ(spoilt([](StepSignals& s) { s.dropped = 3; }), Names{"dropped"});
  EXPECT_EQ(spoilt([](StepSignals& s) { s.learning_rate = kRate * 1.0001; }),
            Names{"learning_rate"});
  EXPECT_EQ(spoilt([](StepSignals& s) { s.random_state = {"r0", "r0"}; }), Names{"random_state"});
  EXPECT_EQ(spoilt([](StepSignals& s) { s.gradient_replicas = 0.5; }), Names{"gradient_replicas"});
  EXPECT_EQ(spoilt([](StepSignals& s) { s.expert_load = {10, 20, 40, 30}; }), Names{"routing"});
}

TEST(Signals, SeeLabelsThatMovedThoughTheMeanLossStays) {
  Evidence run = evidence();
  auto& losses = run.signals[1].token_loss;
  std::rotate(losses.begin(), losses.begin() + 1, losses.end());
  const Distances moved = measured(run);
  EXPECT_EQ(moved[Signal::loss], 0);
  EXPECT_GT(*moved[Signal::correlation], 0.5);
  for (const SignalFinding& found : judge_signals(moved, {})) {  // also without variants
    if (found.signal == Signal::correlation) {
      EXPECT_EQ(found.sign, Sign::fail);
    }
  }
}

TEST(Signals, TellGradientsOfFewBits) {
  Evidence run = evidence();
  for (auto& [name, tensor] : run.signals[1].tensors) {
    for (double& value : tensor.gradient) {  // as if added up in BF16
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value)) & 0xFFFF0000U;
      value = std::bit_cast<float>(bits);
    }
  }
  EXPECT_GT(*measured(run)[Signal::mantissa], *measured(evidence())[Signal::mantissa] + 10);
  const auto found = failing(run);
  EXPECT_NE(std::find(found.begin(), found.end(), "mantissa"), found.end());
}

TEST(SignalsFile, JoinsWhatRanksSayOfOneTensorAndComparesTheCopies) {
  const auto read = read_signals(
      R"({"step": 1, "rank": 0, "samples": "s", "random_state": "a", "tensors": {"w": {"at": [0, 1], "gradient": [1, 2], "norm": 3}}}
{"step": 1, "rank": 1, "random_state": "b", "tensors": {"w": {"at": [2, 1], "gradient": [4, 2.5]}}}
)",
      "s.jsonl");
  ASSERT_TRUE(read.ok()) << read.error().text;
  const StepSignals& step = read->at(1);
  EXPECT_EQ(step.tensors.at("w").gradient, (std::vector<double>{1, 2, 4}));
  EXPECT_DOUBLE_EQ(step.gradient_replicas, 0.25);  // 2 and 2.5 of element 1
  EXPECT_EQ(step.random_state.size(), 2U);
}

TEST(SignalsFile, RefusesBadInputInOneLine) {
  for (const char* bad : {"", "{", "[]", R"({"step": 0})", R"({"step": 1, "rnk": 0})",
                          R"({"loss": 1})", R"({"step": 1, "tensors": {"w": {"gradient": ["x"]}}})",
                          R"({"step": 1, "tensors": {"w": {"at": [1e12], "gradient": [1]}}})",
                          R"({"step": 1, "tensors": {"w": {"at": [0], "gradient": [1, 2]}}})",
                          R"({"step": 1, "random_state": 5})"}) {
    const auto read = read_signals(bad, "s.jsonl");
    ASSERT_FALSE(read.ok()) << bad;
    EXPECT_EQ(read.error().text.find('\n'), std::string::npos);
  }
}

recipe::FinalValues recipe_values() {
  recipe::FinalValues out;
  out.parameters = {{"adam_beta1", 0.9},
                    {"adam_beta2", 0.95},
                    {"adam_eps", 1e-8},
                    {"weight_decay", 0.1},
                    {"clip_grad", 1.0}};
  return out;
}

TEST(AfterLaunch, ALossFourTimesAsLargeFails) {  // gradient accumulation on a model that ignores it
  Evidence run = evidence();
  for (auto& line : run.steps) line.loss *= 4;
  const std::vector<Evidence> baselines{evidence()};
  const AfterReport report = gate_after(baselines, {}, run, recipe_values());
  EXPECT_EQ(report.sign, Sign::fail);
  EXPECT_NE(report.summary.find("mean loss of step 1"), std::string::npos) << report.summary;
}

TEST(AfterLaunch, AnInfiniteLossAnywhereFails) {
  const std::vector<Evidence> baselines{evidence()};
  for (const double bad : {double(NAN), double(INFINITY)}) {
    Evidence run = evidence();
    run.steps[3].loss = bad;
    EXPECT_EQ(gate_after(baselines, {}, run, recipe_values()).sign, Sign::fail);
    run = evidence();
    run.steps[4].grad_norm = bad;
    EXPECT_EQ(gate_after(baselines, {}, run, recipe_values()).sign, Sign::fail);
  }
  Evidence counted = evidence();
  counted.steps[2].invalid = 1;  // the framework counted it and went on
  EXPECT_EQ(gate_after(baselines, {}, counted, recipe_values()).sign, Sign::fail);
}

TEST(AfterLaunch, FivePercentHoldsWhateverTheVariantsDo) {
  Evidence run = evidence(), wild = evidence();
  wild.steps[0].loss *= 1.10;
  run.steps[0].loss *= 1.06;
  const std::vector<Evidence> baselines{evidence()}, variants{wild};
  EXPECT_EQ(gate_after(baselines, variants, run, recipe_values()).sign, Sign::fail);
}

TEST(AfterLaunch, SmallStrayLossesAreSuspectWhereTheBaselinesSpanAnEnvelope) {
  const std::vector<Evidence> baselines(5, evidence());
  Evidence run = evidence();
  run.steps[3].loss *= 1.008;
  EXPECT_EQ(gate_after(baselines, {}, run, recipe_values()).sign, Sign::suspect);
  run.steps[1].loss *= 1.008;  // two steps of five
  EXPECT_EQ(gate_after(baselines, {}, run, recipe_values()).sign, Sign::fail);
  EXPECT_EQ(gate_after(baselines, {}, evidence(), recipe_values()).sign, Sign::ok);
}

TEST(AfterLaunch, WithoutStepsNothingIsAdmitted) {
  const std::vector<Evidence> baselines{evidence()};
  EXPECT_EQ(gate_after(baselines, {}, {}, recipe_values()).sign, Sign::fail);
  EXPECT_EQ(gate_after({}, {}, evidence(), recipe_values()).sign, Sign::fail);
  Evidence late = evidence();
  late.steps.erase(late.steps.begin());  // the first step is not in its log
  EXPECT_EQ(gate_after(baselines, {}, late, recipe_values()).sign, Sign::fail);
}

TEST(AfterLaunch, ALogAloneSaysWhatItCannotSee) {
  Evidence log = evidence();
  log.signals.clear();
  const std::vector<Evidence> baselines{log};
  const AfterReport report = gate_after(baselines, {}, log, recipe_values());
  EXPECT_EQ(report.sign, Sign::ok);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes.back().find("a log alone"), std::string::npos);
}

}  // namespace
}  // namespace setpoint::judge
