// SPDX-License-Identifier: Apache-2.0
// Our iteration model beside the recorded estimates of AIConfigurator 0.12.0. Prints what
// docs/accuracy.md quotes:  build/bin/serve_test --gtest_filter='Golden*'
#include "golden.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "serve/decode_sum.h"

namespace setpoint::serve::golden {
namespace {

struct Compared {
  int within = 0, all = 0;
  double worst = 0;
  void add(const std::string& what, double ours, double theirs, double limit) {
    const double error = ours / theirs - 1;
    ++all;
    if (std::abs(error) <= limit) {
      ++within;
    } else {
      fmt::print("  {:>+7.1f} %  {} ours {:.3f} recorded {:.3f}\n", 100 * error, what, ours,
                 theirs);
    }
    worst = std::max(worst, std::abs(error));
  }
  double share() const { return all > 0 ? static_cast<double>(within) / all : 0; }
};

bool is_static(const Record& r) { return r.mode.starts_with("static"); }

step::StepShape prefill_shape(const Record& r) {
  step::StepShape s;
  s.prompts = static_cast<double>(r.batch);
  s.prompt_tokens = static_cast<double>(r.workload.new_tokens());
  s.prefix = static_cast<double>(r.workload.prefix);
  return s;
}

// Prints the operators behind a difference, as SETPOINT_GOLDEN_OPS=1 asks.
void print_ops(const Engine& engine, const step::StepShape& shape, double scale,
               const std::map<std::string, double>& recorded) {
  if (std::getenv("SETPOINT_GOLDEN_OPS") == nullptr) return;
  std::map<std::string, double> ours;
  for (const auto& op : engine.steps.plan().breakdown(shape)) {
    ours[op.name + (op.hidden ? " (hidden)" : "")] += op.time.value() * scale;
  }
  for (const auto& [name, ms] : ours) {
    const auto found = recorded.find(name);
    fmt::print("      {:28} {:10.3f} {:10.3f}\n", name, ms,
               found == recorded.end() ? 0.0 : found->second);
  }
  for (const auto& [name, ms] : recorded) {
    if (!ours.contains(name)) fmt::print("      {:28} {:>10} {:10.3f}\n", name, "-", ms);
  }
}

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    if (database().empty()) {
      GTEST_SKIP() << "no imported operator tables: set SETPOINT_DB or run scripts/test";
    }
  }
};

void compare_static(View view, bool moe, Compared& context, Compared& generation) {
  constexpr double kLimit = 0.05;
  for (const Record& r : records()) {
    if (!is_static(r) || r.estimated) continue;
    auto made = make_engine(r, view);
    ASSERT_TRUE(made.ok()) << r.title() << ": " << made.error().text;
    Engine& engine = *made;
    if (engine.model->is_moe() != moe) continue;
    const double b = static_cast<double>(r.batch);
    if (!r.context_ms.empty()) {
      const double ours = engine.steps.time(prefill_shape(r)).total.value();
      context.add("prefill " + r.title(), ours, Record::sum(r.context_ms), kLimit);
      print_ops(engine, prefill_shape(r), 1, r.context_ms);
    }
    if (!r.generation_ms.empty()) {
      Workload w = r.workload;
      w.nextn_accepted = 0;  // the record's operators are before acceptance
      const double ours = decode_sum(engine, w, b).total();
      generation.add("decode  " + r.title(), ours, Record::sum(r.generation_ms), kLimit);
      step::StepShape s;
      s.decodes = b;
      s.draft = w.nextn;
      s.kv_length = static_cast<double>(w.isl) + static_cast<double>(w.osl) / 2;
      print_ops(engine, s, static_cast<double>(w.osl - 1), r.generation_ms);
    }
  }
}

TEST_F(Golden, DenseStaticLatenciesAreWithinFivePercent) {
  Compared context, generation;
  compare_static(View::ours, false, context, generation);
  fmt::print("dense: prefill {}/{}, decode {}/{} within 5 %\n", context.within, context.all,
             generation.within, generation.all);
  EXPECT_GT(context.all + generation.all, 40);
  EXPECT_GE(context.within + generation.within, 0.9 * (context.all + generation.all));
}

// What is left of the dense differences is the recorded tool's own addition to prefill attention.
TEST_F(Golden, DenseStaticLatenciesAreWithinFivePercentOnceNamedFaultsAreAddedBack) {
  Compared context, generation;
  compare_static(View::with_faults, false, context, generation);
  fmt::print("dense with faults: prefill {}/{}, decode {}/{} within 5 %\n", context.within,
             context.all, generation.within, generation.all);
  EXPECT_EQ(context.share(), 1);
  EXPECT_EQ(generation.share(), 1);
}

TEST_F(Golden, ExpertModelsAreWithinFivePercentOnceNamedFaultsAreAddedBack) {
  Compared context, generation;
  compare_static(View::with_faults, true, context, generation);
  fmt::print("experts: prefill {}/{}, decode {}/{} within 5 %\n", context.within, context.all,
             generation.within, generation.all);
  EXPECT_GT(context.all, 40);
  EXPECT_GT(generation.all, 40);
  EXPECT_GE(context.share(), 0.9);
  EXPECT_GE(generation.share(), 0.9);
}

TEST_F(Golden, ExpertModelsAsWeModelThem) {
  Compared context, generation;
  compare_static(View::ours, true, context, generation);
  fmt::print("experts, no fault added: prefill {}/{}, decode {}/{} within 5 %\n", context.within,
             context.all, generation.within, generation.all);
}

MemoryQuestion memory_question(const Record& r) {
  MemoryQuestion q;
  q.nextn = r.workload.nextn;
  q.batch = r.batch * r.shard.pp;  // the record's batch is one pipeline stage's
  q.kv_tokens = r.workload.isl + (r.mode == "static_ctx" ? 1 : r.workload.osl);
  q.step_tokens = r.mode == "agg" ? r.budget : r.workload.new_tokens() * r.batch;
  q.role = r.mode == "agg" ? Role::mixed : r.mode == "static_gen" ? Role::decode : Role::prefill;
  return q;
}

TEST_F(Golden, MemoryPartsAreWithinThreePercentOnceNamedFaultsAreAddedBack) {
  constexpr double kLimit = 0.03;
  Compared weights, activations, kv, reserve;
  for (const Record& r : records()) {
    if (r.memory_gib.empty()) continue;
    auto made = make_engine(r, View::with_faults);
    ASSERT_TRUE(made.ok()) << r.title() << ": " << made.error().text;
    const MemoryUse use = memory_use(*made, memory_question(r));
    weights.add("weights " + r.title(), gib(use.weights), r.memory_gib[0], kLimit);
    activations.add("activations " + r.title(),
                    gib(use.activations) * activation_fault(r.framework, r.mode, r.workload.nextn),
                    r.memory_gib[1], kLimit);
    kv.add("kv " + r.title(), gib(use.kv), r.memory_gib[2], kLimit);
    reserve.add("reserve " + r.title(), gib(use.collective + use.context),
                r.memory_gib[3] + r.memory_gib[4], kLimit);
  }
  fmt::print("memory within 3 %: weights {}/{}, activations {}/{}, KV {}/{}, reserve {}/{}\n",
             weights.within, weights.all, activations.within, activations.all, kv.within, kv.all,
             reserve.within, reserve.all);
  EXPECT_GT(weights.all, 150);
  EXPECT_EQ(weights.share(), 1);
  EXPECT_EQ(activations.share(), 1);
  EXPECT_EQ(kv.share(), 1);
  EXPECT_EQ(reserve.share(), 1);
}

// Beside each other, without a limit: the serving formulas differ on purpose.
struct Ratios {
  std::vector<double> ttft, tpot, rate;
  void add(const Record& r, const Point& ours) {
    const double rows[] = {ours.ttft.value() / r.ttft_ms, ours.tpot.value() / r.tpot_ms,
                           ours.requests_per_s / r.requests_per_s};
    fmt::print("  {:80} ttft {:6.3f} tpot {:6.3f} rate {:6.3f}\n", r.title(), rows[0], rows[1],
               rows[2]);
    ttft.push_back(rows[0]);
    tpot.push_back(rows[1]);
    rate.push_back(rows[2]);
  }
  static double median(std::vector<double> v) {
    std::ranges::sort(v);
    return v.empty() ? 0 : v[v.size() / 2];
  }
  static double within(const std::vector<double>& v, double limit) {
    return static_cast<double>(
               std::ranges::count_if(v, [&](double x) { return std::abs(x - 1) <= limit; })) /
           static_cast<double>(std::max<std::size_t>(v.size(), 1));
  }
  void summary(const std::string& what) const {
    fmt::print(
        "{}: {} records; ours / recorded, median: ttft {:.3f} tpot {:.3f} rate {:.3f}; "
        "within 15 %: ttft {:.0f} % tpot {:.0f} % rate {:.0f} %\n",
        what, ttft.size(), median(ttft), median(tpot), median(rate), 100 * within(ttft, 0.15),
        100 * within(tpot, 0.15), 100 * within(rate, 0.15));
  }
};

TEST_F(Golden, AggregatedBesideTheRecords) {
  std::map<std::string, Ratios> by_framework;
  for (const Record& r : records()) {
    if (r.mode != "agg" || r.estimated) continue;
    auto made = make_engine(r, View::ours);
    ASSERT_TRUE(made.ok()) << r.title() << ": " << made.error().text;
    const Point point = aggregated(*made, r.workload, r.batch * r.shard.pp, r.budget);
    by_framework[r.framework].add(r, point);
    EXPECT_GT(point.requests_per_s, 0) << r.title();
  }
  for (const auto& [framework, ratios] : by_framework) {
    ratios.summary("agg " + framework);
    EXPECT_NEAR(Ratios::median(ratios.rate), 1, 0.05);
    EXPECT_NEAR(Ratios::median(ratios.tpot), 1, 0.05);
  }
}

TEST_F(Golden, DisaggregatedBesideTheRecords) {
  Ratios ratios;
  for (const Record& r : records()) {
    if (r.mode != "disagg" || r.estimated) continue;
    auto first = make_engine(r, View::ours);
    auto second = make_engine(r, View::ours, 4);
    ASSERT_TRUE(first.ok() && second.ok()) << r.title();
    const Point p = prefill(*first, r.workload, r.prefill_batch * r.shard.pp);
    const Point d = decode(*second, r.workload, static_cast<double>(r.decode_batch * r.shard.pp));
    ratios.add(r, disaggregated(p, r.prefill_workers, d, r.decode_workers, r.workload));
  }
  ratios.summary("disagg");
  EXPECT_GT(ratios.rate.size(), 30u);
  EXPECT_NEAR(Ratios::median(ratios.rate), 1, 0.05);
  EXPECT_NEAR(Ratios::median(ratios.tpot), 1, 0.05);
}

}  // namespace
}  // namespace setpoint::serve::golden
