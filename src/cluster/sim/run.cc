// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cluster/sim/random.h"

namespace setpoint::cluster {
namespace {

constexpr std::int64_t kMostSteps = 100000;
constexpr std::int64_t kUsualSteps = 20;  // where the recipe does not say
// guess: container and imports, then process groups that grow with the cluster
constexpr double kStartupS = 75, kStartupPerDoubling = 6, kCaptureS = 25;
// guess: the first steps compile, allocate and open connections
constexpr std::array kWarmup{4.0, 1.6, 1.3};
constexpr int kPythonError = 1, kKilled = 137, kTerminated = 143;

double nodes_factor(const SimSpec& spec, const std::vector<std::string>& nodes) {
  double slowest = 1;
  for (const std::string& node : nodes) {
    slowest = std::max(slowest, 1 + spec.node_noise * Random(spec.seed, "node " + node).uniform());
  }
  return slowest;
}

// Near the edge it depends on fragmentation, which the recipe decides and not the node: the same
// recipe fails everywhere or nowhere.
bool out_of_memory(const SimSpec& spec, const RunInput& in, const MemoryTerms& terms) {
  const double share = terms.total() / static_cast<double>(spec.machine.system.gpu.memory.value());
  const double certain = spec.machine.constants.certain_share;
  const double probability = std::clamp((share - certain) / (2 * (1 - certain)), 0.0, 1.0);
  return Random(spec.seed, "memory " + in.snapshot).chance(probability);
}

void ends(RunPlan& plan, double at, std::string outcome, int code, std::string message,
          std::string cause = "") {
  plan.end_s = at;
  plan.outcome = std::move(outcome);
  plan.exit_code = code;
  plan.message = std::move(message);
  plan.cause = std::move(cause);
}

// What happens to it from outside, if anything: cuts the steps that are not over by then.
void disturb(const SimSpec& spec, const RunInput& in, RunPlan& plan) {
  Random chance(spec.seed, "fate " + in.lease);
  const bool hangs = chance.chance(spec.hang);
  const bool fails = chance.chance(spec.node_failure);
  const bool preempted = chance.chance(spec.preemption);
  const double at = plan.startup_s + chance.uniform() * (plan.end_s - plan.startup_s);
  const auto which = static_cast<std::size_t>(chance.uniform() * double(in.nodes.size()));
  if (preempted) {
    ends(plan, at, "preempted", kTerminated, "Received SIGTERM", "preempted by a higher priority");
  } else if (fails && !in.nodes.empty()) {
    const std::string& node = in.nodes[std::min(which, in.nodes.size() - 1)];
    ends(plan, at, "node_failure", kKilled, "NCCL WARN NET/IB : Got completion with error 12",
         fmt::format("node {} failed its health check", node));
  } else if (hangs) {
    plan.end_s = in.limit_s + at;
  }
  double over = plan.startup_s;
  std::size_t whole = 0;
  while (whole < plan.step_s.size() && over + plan.step_s[whole] <= std::min(at, plan.end_s)) {
    over += plan.step_s[whole++];
  }
  if (preempted || fails || hangs) plan.step_s.resize(whole);
}

void steps(const SimSpec& spec, const RunInput& in, std::int64_t count, RunPlan& plan) {
  Random noise(spec.seed, "steps " + in.lease);
  const double base = plan.terms.total().value() / kMsPerS * nodes_factor(spec, in.nodes) *
                      noise.log_normal(spec.run_noise);
  double at = plan.startup_s;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto step = static_cast<std::size_t>(i);
    const double warmup = step < kWarmup.size() ? kWarmup[step] : 1;
    plan.step_s.push_back(base * warmup * noise.log_normal(spec.step_noise));
    at += plan.step_s.back();
  }
  constexpr double kTeardownS = 5;  // guess
  ends(plan, at + kTeardownS, "done", 0, "[after training is done] datetime: simulated");
}

RunPlan refused(const Error& error, double at) {
  RunPlan plan;
  plan.startup_s = at;
  ends(plan, at, "failed", kPythonError, "AssertionError: " + error.text);
  return plan;
}

}  // namespace

RunPlan plan_run(const SimSpec& spec, const RunInput& in) {
  const double doublings = std::log2(static_cast<double>(std::max<std::int64_t>(in.gpus, 1)));
  const double startup = kStartupS + kStartupPerDoubling * doublings;
  const auto model = read_train_model(in.values);
  if (!model.ok()) return refused(model.error(), startup);
  auto layout = read_layout(in.values, model.value(), in.gpus);
  if (!layout.ok()) return refused(layout.error(), startup);
  RunPlan plan;
  plan.startup_s = startup + (layout.value().graphs == Graphs::none ? 0 : kCaptureS);
  plan.terms = step_time(model.value(), layout.value(), spec.machine);
  const std::int64_t asked = Params(in.values).integer("train_iters", kUsualSteps);
  steps(spec, in, std::clamp<std::int64_t>(asked, 1, kMostSteps), plan);
  const MemoryTerms needs = memory(model.value(), layout.value(), spec.machine);
  if (out_of_memory(spec, in, needs)) {
    const double first = plan.step_s.front() / 2;
    plan.step_s.clear();
    ends(plan, plan.startup_s + first, "out_of_memory", kPythonError,
         fmt::format("torch.OutOfMemoryError: CUDA out of memory. GPU 0 has a total capacity of "
                     "{:.2f} GiB",
                     gib(spec.machine.system.gpu.memory)));
  } else {
    disturb(spec, in, plan);
  }
  plan.layout = std::move(layout).value();
  if (plan.end_s > in.limit_s) {
    double over = plan.startup_s;
    std::size_t whole = 0;
    while (whole < plan.step_s.size() && over + plan.step_s[whole] <= in.limit_s) {
      over += plan.step_s[whole++];
    }
    plan.step_s.resize(whole);
    ends(plan, in.limit_s, "timeout", kKilled, "", "killed at its time limit");
  }
  return plan;
}

}  // namespace setpoint::cluster
