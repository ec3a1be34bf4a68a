// SPDX-License-Identifier: Apache-2.0
// Planted errors move the signals that the measured table says (recipes from trained and from
// random weights, fresh optimizer state) and no others; runs of one recipe agree as real ones do.
#include "cluster/sim/evidence.h"

#include <bit>
#include <cmath>
#include <sstream>

#include "shipped_recipe.h"

namespace setpoint::cluster {
namespace {

using Values = std::vector<double>;

struct Signals {
  double loss = 0, later_loss = 0, grad_norm = 0;
  Values tokens;
  std::map<std::string, Values> gradient, update;
  std::string samples;
  int lines = 0;
};

Signals run(const std::string& error, const std::string& lease, bool trained,
            const Settings& changed = {}) {
  SimSpec spec;
  spec.seed = 3;
  if (!error.empty()) {
    const base::Json json{{"error", error}};
    spec.faults.push_back(read_fault(base::JsonView(json, "error")).value());
  }
  recipe::FinalValues values = final_values(shipped_recipe("qwen3-30b-h100"));
  if (!trained) values.parameters["checkpoint.pretrained_checkpoint"] = nullptr;
  for (const auto& [key, value] : changed) values.parameters[key] = value;
  const Training training(spec, values, lease);
  Signals out;
  out.later_loss = training.step(15).loss;
  std::istringstream text(training.signals(1));
  for (std::string line; std::getline(text, line); ++out.lines) {
    const base::Json json = base::parse_json(line, "line").value();
    if (json["rank"] != 0) continue;
    out.loss = json["loss"];
    out.grad_norm = json["grad_norm"];
    out.samples = json["samples"];
    out.tokens = json["token_loss"].get<Values>();
    for (const auto& [name, tensor] : json["tensors"].items()) {
      out.gradient[name] = tensor["gradient"].get<Values>();
      const auto before = tensor["weight"].get<Values>();
      out.update[name] = tensor["new_weight"].get<Values>();
      for (std::size_t i = 0; i < before.size(); ++i) out.update[name][i] -= before[i];
    }
  }
  return out;
}

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double cosine(const Values& a, const Values& b) {
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}
double length_ratio(const Values& a, const Values& b) { return std::sqrt(dot(a, a) / dot(b, b)); }
double correlation(Values a, Values b) {
  for (Values* of : {&a, &b}) {
    double mean = 0;
    for (const double v : *of) mean += v / double(of->size());
    for (double& v : *of) v -= mean;
  }
  return cosine(a, b);
}
double trailing_zeros(const Values& values) {
  double bits = 0;
  for (const double v : values) {
    bits += std::min(23, std::countr_zero(std::bit_cast<std::uint32_t>(static_cast<float>(v))));
  }
  return bits / double(values.size());
}

TEST(Evidence, OfTwoHonestRunsOfOneRecipeAgrees) {
  const Signals a = run("", "a", true);
  const Signals b = run("", "b", true);
  EXPECT_NE(a.loss, b.loss);
  EXPECT_NEAR(b.loss / a.loss, 1, 3e-4);  // measured on legitimate layouts: up to 1.8e-4
  EXPECT_NEAR(b.later_loss / a.later_loss, 1, 2e-3);
  EXPECT_GT(correlation(a.tokens, b.tokens), 0.9999);
  EXPECT_GT(cosine(a.gradient.at("mlp"), b.gradient.at("mlp")), 0.999);
  EXPECT_NEAR(b.grad_norm / a.grad_norm, 1, 5e-3);
  EXPECT_EQ(a.samples, b.samples);
  const double zeros = trailing_zeros(a.gradient.at("mlp"));
  EXPECT_GT(zeros, 7.2);  // measured: 7.2 to 10.9
  EXPECT_LT(zeros, 10.9);
  EXPECT_NEAR(run("", "a", false).loss, std::log(151936), 0.2);
}

TEST(Evidence, OfAnotherLayoutIsTheSameTrainingAndOfOtherDataIsNot) {
  const Signals base = run("", "a", true);
  const Signals layout = run("", "b", true, {{"model.expert_model_parallel_size", 8}});
  EXPECT_EQ(layout.samples, base.samples);
  EXPECT_GT(cosine(layout.gradient.at("mlp"), base.gradient.at("mlp")), 0.999);
  const Signals data = run("", "b", true, {{"train.global_batch_size", 512}});
  EXPECT_NE(data.samples, base.samples);
  EXPECT_LT(std::abs(cosine(data.gradient.at("mlp"), base.gradient.at("mlp"))), 0.5);
}

struct Expected {
  const char* error;
  bool loss, tokens, norm, direction;  // moved, from trained weights
};

TEST(Evidence, OfPlantedErrorsMovesWhatTheTableSays) {
  const Signals good = run("", "a", true);
  for (const Expected& e : {Expected{"forward_scale", true, true, true, true},
                            Expected{"forward_shard", true, true, true, true},
                            Expected{"label_shift", true, true, true, true},
                            Expected{"missing_sum", false, false, true, true},
                            Expected{"half_sum", false, false, true, true},
                            Expected{"last_micro_batch", false, false, true, true},
                            Expected{"scaled_group", false, false, true, false},
                            Expected{"partial_table", false, false, true, true},
                            Expected{"bf16_accumulation", false, false, false, false},
                            Expected{"misplaced_layers", true, true, true, true}}) {
    const Signals bad = run(e.error, "b", true);
    double norm = 0, direction = 0;
    for (const auto& [name, gradient] : good.gradient) {
      norm = std::max(norm, std::abs(std::log(length_ratio(bad.gradient.at(name), gradient))));
      direction = std::max(direction, 1 - cosine(bad.gradient.at(name), gradient));
    }
    EXPECT_EQ(std::abs(bad.loss / good.loss - 1) > 0.05, e.loss) << e.error;
    double tokens = 0;
    for (std::size_t i = 0; i < good.tokens.size(); ++i) {
      tokens = std::max(tokens, std::abs(bad.tokens[i] - good.tokens[i]) / good.loss);
    }
    EXPECT_EQ(tokens > 0.1, e.tokens) << e.error;
    EXPECT_EQ(norm > 0.22, e.norm) << e.error;
    EXPECT_EQ(direction > 0.2, e.direction) << e.error;
    EXPECT_EQ(bad.samples, good.samples) << e.error;
  }
}

TEST(Evidence, HasTheSizesOfTheToyNetwork) {
  const Signals good = run("", "a", true);
  const Signals sum = run("missing_sum", "a", true);
  EXPECT_NEAR(length_ratio(sum.gradient.at("mlp"), good.gradient.at("mlp")), 2.02, 0.4);
  EXPECT_NEAR(cosine(sum.gradient.at("mlp"), good.gradient.at("mlp")), 0.356, 0.25);
  EXPECT_LT(cosine(sum.update.at("mlp"), good.update.at("mlp")), 0.8);
  EXPECT_EQ(sum.gradient.at("attention"), good.gradient.at("attention"));
  EXPECT_EQ(sum.lines, 2);  // a second rank holds another copy
  const Signals half = run("scaled_group", "a", true);
  EXPECT_NEAR(length_ratio(half.gradient.at("attention"), good.gradient.at("attention")), 0.5,
              1e-3);
  EXPECT_GT(cosine(half.update.at("attention"), good.update.at("attention")), 0.99);
  const Signals table = run("partial_table", "a", true);
  EXPECT_NEAR(length_ratio(table.gradient.at("embedding"), good.gradient.at("embedding")), 0.72,
              0.12);
  const Signals accumulated = run("bf16_accumulation", "a", true);
  EXPECT_GT(trailing_zeros(accumulated.gradient.at("mlp")), 15.8);
  EXPECT_NEAR(accumulated.loss, good.loss, 1e-12);
}

TEST(Evidence, FromRandomWeightsHidesForwardErrorsInTheMeanLoss) {
  const Signals good = run("", "a", false);
  for (const char* error : {"forward_scale", "forward_shard", "label_shift"}) {
    const Signals bad = run(error, "a", false);
    EXPECT_LT(std::abs(bad.loss / good.loss - 1), 0.001) << error;
    EXPECT_GT(std::abs(bad.tokens[0] - good.tokens[0]) / good.loss, 0.01) << error;
  }
  EXPECT_NEAR(correlation(run("label_shift", "a", false).tokens, good.tokens), -0.02, 0.2);
}

TEST(Fault, ActsOnlyOnRunsWithTheValuesItNames) {
  const base::Json json{{"error", "missing_sum"},
                        {"when", {{"model.tensor_model_parallel_size", 2}}}};
  const Fault fault = read_fault(base::JsonView(json, "error")).value();
  recipe::FinalValues values;
  EXPECT_FALSE(fault.acts_on(values));
  values.parameters["model.tensor_model_parallel_size"] = 2;
  EXPECT_TRUE(fault.acts_on(values));
}

}  // namespace
}  // namespace setpoint::cluster
