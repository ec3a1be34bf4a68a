// SPDX-License-Identifier: Apache-2.0
// The accounting of a campaign: GPU-hours are GPUs held from allocation to release by the cluster's
// clock, whatever ran on them, and nothing launches that the budget does not cover to its time
// limit. Everything here is pure: events in, charges and decisions out. ATTUNE's rules; what it
// leaves open is decided in docs/formats/ledger.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "setpoint/units.h"

namespace setpoint::judge {

enum class Purse : std::uint8_t { campaign, baseline };
inline constexpr std::array<std::string_view, 2> kPurses{"campaign", "baseline"};

// What a run is for: the category of its charge.
enum class Purpose : std::uint8_t { baseline, readiness, trial, confirm, check, profile, repeat };
struct PurposeInfo {
  Purpose purpose;
  std::string_view name;
  Purse purse;  // where the contract gives the baseline a purse of its own
};
inline constexpr std::array kPurposes{
    PurposeInfo{Purpose::baseline, "baseline", Purse::baseline},
    PurposeInfo{Purpose::readiness, "readiness", Purse::baseline},
    PurposeInfo{Purpose::trial, "trial", Purse::campaign},
    PurposeInfo{Purpose::confirm, "confirm", Purse::campaign},
    PurposeInfo{Purpose::check, "check", Purse::campaign},
    PurposeInfo{Purpose::profile, "profile", Purse::campaign},
    PurposeInfo{Purpose::repeat, "repeat", Purse::campaign},
};
constexpr const PurposeInfo& info(Purpose purpose) {
  return kPurposes[static_cast<std::size_t>(purpose)];
}

// One node of an allocation, while it was held: by the cluster's clock.
struct Hold {
  std::string node;
  int gpus = 0;
  Seconds start{};
  std::optional<Seconds> end;  // no value: not released as far as the cluster says
  bool operator==(const Hold&) const = default;
};

// One trial's processes within an allocation; several share it.
struct Job {
  std::string trial;
  std::optional<Seconds> start, end;
  bool operator==(const Job&) const = default;
};

struct Allocation {
  std::string id;
  std::vector<Hold> holds;  // a node that left and came back has two
  std::vector<Job> jobs;
  // When the judge saw the GPUs free, by the cluster's clock: the end of holds that have none.
  std::optional<Seconds> free_at;
  // From the first allocation to the last release by the judge's own clock: what is left when the
  // cluster's runs backwards.
  Seconds seen_start{};
  std::optional<Seconds> seen_end;
  bool operator==(const Allocation&) const = default;
};

struct Share {
  std::string trial;
  GpuHours cost{};
};

struct Charge {
  GpuHours total{};
  std::vector<Share> shares;  // of its jobs, in their order; they sum to the total
  bool open = false;          // somebody still holds GPUs: the charge runs until `until`
  std::vector<std::string> notes;
};

// Until `until` (the cluster's clock) for what is not released.
Charge charge_of(const Allocation& allocation, Seconds until);

// Cluster and judge disagree by more than this: the cluster's clock counts and it is noted.
inline constexpr Seconds kClockSkewNoted{5};
std::optional<std::string> clock_skew(Seconds cluster_now, Seconds judge_now);

// min(the contract's, factor x the baseline's wall time), the latter once it is known.
Seconds time_limit(Seconds contract, std::optional<Seconds> baseline_wall, double factor = 2);

struct Account {
  GpuHours budget{}, spent{};
  GpuHours reserved{};   // of launches that are not charged yet
  bool overrun = false;  // a run cost more than its reserve, and no person has answered yet
  GpuHours left() const { return budget - spent - reserved; }
};

struct BudgetDecision {
  bool admitted = false;
  int gpus = 0;
  Seconds limit{};
  GpuHours reserve{};  // GPUs x time limit
  std::string reason;  // why not
};
// Launch iff spent + reserved + reserve <= budget.
BudgetDecision decide_budget(const Account& account, int gpus, Seconds limit);

}  // namespace setpoint::judge
