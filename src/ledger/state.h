// SPDX-License-Identifier: Apache-2.0
// Where a campaign stands: a fold over its records and nothing else, so that whoever reads the
// ledger, after whatever crash, comes to the same state. A record that the state does not allow (a
// charge twice, a launch in the wrong phase, a score below its threshold that claims to beat it) is
// refused, before it is written and when it is read.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "setpoint/budget.h"
#include "setpoint/ledger.h"

namespace setpoint::ledger {

enum class Phase : std::uint8_t {
  created,
  baseline,
  ready,
  searching,
  finishing,
  reported,
  lessons_review,
  closed,
  paused,
  stopped
};
inline constexpr std::array<std::string_view, 10> kPhases{
    "created",  "baseline",       "ready",  "searching", "finishing",
    "reported", "lessons_review", "closed", "paused",    "stopped"};

// How far a launch has come. `charged` closes its lease; what follows is arithmetic on its record.
enum class Stage : std::uint8_t { intended, allocated, ended, released, charged, judged, scored };
inline constexpr std::array<std::string_view, 7> kStages{
    "intended", "allocated", "ended", "released", "charged", "judged", "scored"};

struct Contract {
  std::string name;
  int gpus = 0;
  Seconds time_limit{};
  double time_limit_factor = 2;
  GpuHours budget{};
  std::optional<GpuHours> baseline_purse;  // none: baseline runs are paid from the budget
  int baseline_runs = 5;
  base::Json fields;  // all of it
};

struct Proposal {
  std::string id, hypothesis, requested_hash;
  std::string verdict, effective_hash;  // gate, step 1; empty: not judged yet
  std::string refused;                  // why; empty: not refused
};

// One launch: it exists from its intent.
struct Trial {
  std::string id, proposal, snapshot, effective_hash, lease;
  judge::Purpose purpose = judge::Purpose::trial;
  judge::Purse purse = judge::Purse::campaign;
  int gpus = 0;
  Seconds limit{};
  GpuHours reserve{};
  std::int64_t intent_seq = 0;
  std::string allocation;           // its id; empty: none yet
  std::string outcome;              // of its run; empty: not ended
  std::string ended_by;             // the cluster's last word on its allocation: how of release
  bool released = false;            // its allocation holds no GPUs
  std::optional<GpuHours> charged;  // as corrected last
  std::int64_t charge_seq = -1;     // the record of that
  std::string gate2;                // ok, suspect, fail; empty: not judged yet
  std::optional<double> score;      // tokens/s/GPU
  bool beats = false, parked = false;
  Stage stage() const;
  bool open() const { return !charged; }  // its reserve is still held
};

struct BaselineRun {
  std::string trial;
  std::vector<std::string> machines;
  bool valid = false;
  std::optional<double> score;
  std::optional<Seconds> wall;
};

struct Noise {
  int n = 0;
  double mean = 0, sd = 0, sigma = 0, band = 0;
};

struct Incumbent {
  std::string trial;  // empty: the baseline
  double score = 0;
};

class CampaignState {
 public:
  // On an error nothing has changed.
  Result<void> apply(const Record& record);

  const std::optional<Contract>& contract() const { return contract_; }
  Phase phase() const { return phase_; }
  std::optional<Phase> paused_from() const { return paused_from_; }
  const std::string& phase_reason() const { return reason_; }
  const std::vector<Proposal>& proposals() const { return proposals_; }
  const std::vector<Trial>& trials() const { return trials_; }
  const Trial* trial(const std::string& id) const;
  const Proposal* proposal(const std::string& id) const;
  const std::map<std::string, judge::Allocation>& allocations() const { return allocations_; }
  const std::vector<BaselineRun>& baseline() const { return baseline_; }
  const std::optional<Noise>& noise() const { return noise_; }
  const std::optional<Incumbent>& incumbent() const { return incumbent_; }
  std::vector<std::string> parked() const;
  // Launches whose GPUs may still be held: to be looked up at the cluster after a crash.
  std::vector<const Trial*> open_trials() const;
  // `without`: a trial whose reserve is not counted, to decide about its own launch again.
  judge::Account account(judge::Purse purse, const std::string& without = "") const;
  const std::map<std::string, GpuHours>& spent_by_category() const { return by_category_; }
  std::size_t count(const std::string& kind) const;  // records of the kind
  // draft, accepted, rejected, suspended, retired
  const std::map<std::string, std::string>& lessons() const { return lessons_; }

 private:
  friend struct Rules;  // one function a kind, state.cc
  std::optional<Contract> contract_;
  Phase phase_ = Phase::created;
  std::optional<Phase> paused_from_;
  std::string reason_;
  std::vector<Proposal> proposals_;
  std::vector<Trial> trials_;
  std::map<std::string, judge::Allocation> allocations_;
  std::vector<BaselineRun> baseline_;
  std::optional<Noise> noise_;
  std::optional<Incumbent> incumbent_;
  std::array<GpuHours, judge::kPurses.size()> spent_{};
  std::map<std::string, GpuHours> by_category_;
  bool overrun_ = false;
  std::map<std::string, std::size_t> counts_;
  std::map<std::string, std::string> lessons_;
  std::vector<std::string> hypotheses_;
};

// The whole fold; the error names the record.
Result<CampaignState> fold(const std::vector<Record>& records);

}  // namespace setpoint::ledger
