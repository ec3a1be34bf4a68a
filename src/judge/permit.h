// SPDX-License-Identifier: Apache-2.0
// The right to launch one run. A cluster takes nothing else, and only admit() can make one: out of
// the gate's ruling, the budget's decision and an intent that is safe on the disk, which must all
// speak of the same run. The permit names the frozen snapshot by its digest, so what is launched is
// what was judged.
#pragma once

#include <string>

#include "judge/ruling.h"
#include "ledger/ledger.h"
#include "setpoint/budget.h"

namespace setpoint::judge {

class Permit {
 public:
  // It may be handed on, not doubled: one intent, one permit, one launch.
  Permit(Permit&&) = default;
  Permit& operator=(Permit&&) = default;
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

  const std::string& campaign() const { return campaign_; }
  const std::string& trial() const { return trial_; }
  const std::string& lease() const { return lease_; }        // how the cluster names the launch
  const std::string& snapshot() const { return snapshot_; }  // SHA-256 of what is launched
  int gpus() const { return gpus_; }
  Seconds time_limit() const { return time_limit_; }  // from allocation; then it is killed
  Purpose purpose() const { return purpose_; }

 private:
  friend Result<Permit> admit(const Ruling&, const BudgetDecision&, const ledger::Synced&);
  Permit() = default;
  std::string campaign_, trial_, lease_, snapshot_;
  int gpus_ = 0;
  Seconds time_limit_{};
  Purpose purpose_ = Purpose::trial;
};

// Refuses (code `no`) whatever is not a full yes: the error says which of the three.
Result<Permit> admit(const Ruling& ruling, const BudgetDecision& budget,
                     const ledger::Synced& intent);

}  // namespace setpoint::judge
