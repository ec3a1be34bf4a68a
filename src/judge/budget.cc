// SPDX-License-Identifier: Apache-2.0
#include "setpoint/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace setpoint::judge {
namespace {

// Sums of charges are doubles: a budget of exactly 30 runs must pay 30 runs.
constexpr double kRoundingShare = 1e-9;

// One node's GPUs over time; where two of its holds overlap (an event reported twice, a job put
// back on its node), the larger counts and not their sum.
GpuHours held_on_node(const std::vector<Hold>& holds) {
  std::vector<Seconds> edges;
  for (const Hold& hold : holds) edges.insert(edges.end(), {hold.start, *hold.end});
  std::sort(edges.begin(), edges.end());
  GpuHours sum;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    int gpus = 0;
    for (const Hold& hold : holds) {
      if (hold.start <= edges[i - 1] && *hold.end >= edges[i]) gpus = std::max(gpus, hold.gpus);
    }
    sum += held(gpus, edges[i] - edges[i - 1]);
  }
  return sum;
}

// Every hold with an end. What is not released is charged until the judge saw the GPUs free, else
// until `until`; an end before its start, which only a clock that was set back can give, for as
// long as the judge saw the GPUs held.
Hold closed(const Allocation& allocation, Hold hold, Seconds until, Charge& charge) {
  if (!hold.end) {
    hold.end = allocation.free_at.value_or(until);
    charge.open = charge.open || !allocation.free_at;
    charge.notes.push_back(fmt::format("{}: {} has no release time: charged until {}",
                                       allocation.id, hold.node,
                                       allocation.free_at ? "the GPUs were seen free" : "now"));
  }
  if (*hold.end < hold.start) {
    const Seconds seen =
        allocation.seen_end.value_or(allocation.seen_start) - allocation.seen_start;
    charge.notes.push_back(fmt::format(
        "{}: {} was released before it was allocated: the judge's own times are charged",
        allocation.id, hold.node));
    hold.end = hold.start + std::max(seen, Seconds(0));
  }
  return hold;
}

// In proportion to the time of each job's own processes; equal where none is known. The last share
// is what is left, so that they sum to the total exactly.
std::vector<Share> shares(const std::vector<Job>& jobs, GpuHours total) {
  const auto weight = [](const Job& job) {
    return job.start && job.end ? std::max(0.0, (*job.end - *job.start).value()) : 0.0;
  };
  double sum = 0;
  for (const Job& job : jobs) sum += weight(job);
  std::vector<Share> out;
  GpuHours left = total;
  for (const Job& job : jobs) {
    const double share = sum > 0 ? weight(job) / sum : 1.0 / double(jobs.size());
    const GpuHours cost =
        out.size() + 1 == jobs.size() ? std::max(left, GpuHours(0)) : total * share;
    out.push_back({job.trial, cost});
    left -= cost;
  }
  return out;
}

}  // namespace

Charge charge_of(const Allocation& allocation, Seconds until) {
  Charge charge;
  std::map<std::string, std::vector<Hold>> nodes;
  for (const Hold& hold : allocation.holds) {
    nodes[hold.node].push_back(closed(allocation, hold, until, charge));
  }
  for (const auto& [node, holds] : nodes) charge.total += held_on_node(holds);
  charge.shares = shares(allocation.jobs, charge.total);
  return charge;
}

std::optional<std::string> clock_skew(Seconds cluster_now, Seconds judge_now) {
  const Seconds skew = cluster_now - judge_now;
  if (std::fabs(skew.value()) <= kClockSkewNoted.value()) return std::nullopt;
  return fmt::format("the cluster's clock is {:+.1f} s off the judge's; the cluster's counts",
                     skew.value());
}

Seconds time_limit(Seconds contract, std::optional<Seconds> baseline_wall, double factor) {
  return baseline_wall ? std::min(contract, *baseline_wall * factor) : contract;
}

BudgetDecision decide_budget(const Account& account, int gpus, Seconds limit) {
  BudgetDecision decision{false, gpus, limit, held(gpus, limit), ""};
  const GpuHours needed = account.spent + account.reserved + decision.reserve;
  if (account.overrun) {
    decision.reason = "a run cost more than its reserve: a person must look first";
  } else if (gpus <= 0 || !(limit > Seconds(0))) {
    decision.reason = "a launch needs GPUs and a time limit";
  } else if (!(needed <= account.budget * (1 + kRoundingShare))) {
    decision.reason = fmt::format(
        "{:.2f} GPU-hours spent, {:.2f} reserved and {:.2f} for this run exceed the budget of "
        "{:.2f}",
        account.spent.value(), account.reserved.value(), decision.reserve.value(),
        account.budget.value());
  } else {
    decision.admitted = true;
  }
  return decision;
}

}  // namespace setpoint::judge
