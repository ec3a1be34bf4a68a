// SPDX-License-Identifier: Apache-2.0
#include "judge/audit.h"

#include <cmath>

namespace setpoint::judge {
namespace {

constexpr double kRounding = 1e-6;  // GPU-hours: 4 ms of one GPU

bool agree(GpuHours a, GpuHours b) { return std::fabs((a - b).value()) <= kRounding; }

}  // namespace

std::vector<Discrepancy> audit(const ledger::CampaignState& state) {
  std::vector<Discrepancy> out;
  for (const auto& [id, allocation] : state.allocations()) {
    GpuHours charged;
    bool open = false;
    for (const Job& job : allocation.jobs) {
      const ledger::Trial* trial = state.trial(job.trial);
      open = open || trial == nullptr || trial->open();
      if (!open) charged += *trial->charged;
    }
    const Charge due = charge_of(allocation, allocation.seen_start);
    if (!open && !due.open && !agree(charged, due.total)) out.push_back({id, charged, due.total});
  }
  for (const ledger::Trial& trial : state.trials()) {
    if (trial.allocation.empty() && trial.charged && !agree(*trial.charged, GpuHours(0))) {
      out.push_back({trial.id, *trial.charged, GpuHours(0)});
    }
  }
  return out;
}

}  // namespace setpoint::judge
