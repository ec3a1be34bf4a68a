// SPDX-License-Identifier: Apache-2.0
#include "judge/readiness.h"

#include <gtest/gtest.h>

namespace setpoint::judge {
namespace {

Evidence run(double first_loss) {
  Evidence out;
  for (int step = 1; step <= 4; ++step) {
    recipe::StepLine& line = out.steps.emplace_back();
    line.step = step;
    line.loss = first_loss;
    line.grad_norm = 1;
    out.signals[step].samples = "s" + std::to_string(step);
  }
  return out;
}

recipe::FinalValues ready() {
  recipe::FinalValues out;
  out.framework = "megatron-core";
  out.parameters = {{"padded_vocab_size", 151936}, {"hidden_dropout", 0.0},
                    {"attention_dropout", 0.0},    {"moe_router_force_load_balancing", false},
                    {"mock_data", false},          {"lr_decay_iters", 1000}};
  out.facts["data_order_hash"] = "sha256:1";
  return out;
}

Truth holds(const Readiness& readiness, std::string_view name) {
  for (const ReadinessCheck& check : readiness.checks) {
    if (check.name == name) return check.holds;
  }
  ADD_FAILURE() << name;
  return Truth::unknown;
}

TEST(Readiness, IsHighWhereEverythingHolds) {
  const std::vector<Evidence> runs{run(2.2), run(2.2)};
  const Readiness found = check_readiness(ready(), runs);
  for (const ReadinessCheck& check : found.checks) EXPECT_EQ(check.holds, Truth::yes) << check.name;
  EXPECT_EQ(found.power, Power::high);
}

TEST(Readiness, IsLowFromRandomWeights) {  // ln 151936 = 11.93; 80 % of it is 9.54
  const std::vector<Evidence> runs{run(11.9), run(11.9)};
  EXPECT_EQ(check_readiness(ready(), runs).power, Power::low);
  const std::vector<Evidence> trained{run(9.5), run(9.5)};
  EXPECT_EQ(check_readiness(ready(), trained).power, Power::high);
}

TEST(Readiness, IsLowWithDropoutForcedRoutingOrGapsInTheLog) {
  const std::vector<Evidence> runs{run(2.2), run(2.2)};
  recipe::FinalValues values = ready();
  values.parameters["hidden_dropout"] = 0.1;
  EXPECT_EQ(check_readiness(values, runs).power, Power::low);
  values = ready();
  values.parameters["moe_router_force_load_balancing"] = true;
  EXPECT_EQ(check_readiness(values, runs).power, Power::low);
  std::vector<Evidence> gaps = runs;
  gaps[1].steps.erase(gaps[1].steps.begin() + 2);
  EXPECT_EQ(check_readiness(ready(), gaps).power, Power::low);
  EXPECT_EQ(check_readiness(ready(), {}).power, Power::low);
}

TEST(Readiness, IsMediumWhereOrderSignalsOrScheduleAreNotProven) {
  std::vector<Evidence> runs{run(2.2), run(2.2)};
  runs[1].signals[2].samples = "other";
  Readiness found = check_readiness(ready(), runs);
  EXPECT_EQ(found.power, Power::medium);
  EXPECT_EQ(holds(found, "order_repeats"), Truth::no);
  recipe::FinalValues values = ready();
  values.parameters["lr_decay_iters"] = nullptr;
  values.parameters["mock_data"] = true;
  const std::vector<Evidence> good{run(2.2), run(2.2)};
  found = check_readiness(values, good);
  EXPECT_EQ(found.power, Power::medium);
  EXPECT_EQ(holds(found, "decay_pinned"), Truth::no);
  EXPECT_EQ(holds(found, "real_data"), Truth::no);
}

}  // namespace
}  // namespace setpoint::judge
