// SPDX-License-Identifier: Apache-2.0
#include "judge/repeat.h"

#include <fmt/format.h>

namespace setpoint::judge {
namespace {

constexpr int kRerunsAfterNodeFailure = 1;

// A run that the cluster ended (by its own record of the release), that never began or that the
// judge lost sight of says nothing about its recipe.
bool says_nothing(const ledger::Trial& trial) {
  return (trial.outcome == "preempted" && trial.ended_by == "preempted") ||
         trial.outcome == "lost" || trial.outcome == "never_started";
}

}  // namespace

std::optional<std::string> repeat_refused(const ledger::CampaignState& state,
                                          const std::string& effective_hash) {
  for (const ledger::Proposal& proposal : state.proposals()) {
    if (proposal.effective_hash == effective_hash && proposal.verdict == "reject") {
      return fmt::format("the same recipe was rejected as {}", proposal.id);
    }
  }
  int node_failures = 0;
  for (const ledger::Trial& trial : state.trials()) {
    if (trial.purpose != Purpose::trial || trial.effective_hash != effective_hash) continue;
    if (says_nothing(trial)) continue;
    if (trial.outcome == "node_failure" && trial.ended_by == "node_failure") {
      if (++node_failures <= kRerunsAfterNodeFailure) continue;
      return fmt::format("the same recipe lost its node {} times, last as {}", node_failures,
                         trial.id);
    }
    if (trial.outcome.empty()) return fmt::format("the same recipe runs as {}", trial.id);
    if (trial.outcome != "done") {
      return fmt::format("the same recipe failed as {}: {}", trial.id, trial.outcome);
    }
    if (trial.gate2 == "fail") {
      return fmt::format("the same recipe was rejected after its run as {}", trial.id);
    }
    return trial.score ? fmt::format("the same recipe was scored as {}: {:.6g} tokens/s/GPU",
                                     trial.id, *trial.score)
                       : fmt::format("the same recipe ran as {}", trial.id);
  }
  return std::nullopt;
}

}  // namespace setpoint::judge
