// SPDX-License-Identifier: Apache-2.0
// The gate. Step 1, before launch: every difference between the final values of an original and a
// candidate, what the register says of it, known defects, side effects, the layer map. Step 2,
// after launch: what the run's first steps show against the baseline's. Both fail closed: what is
// unknown is never a pass, and an error is no admission.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judge/defects.h"
#include "judge/register.h"
#include "judge/ruling.h"
#include "judge/signals.h"
#include "recipe/read.h"

namespace setpoint::judge {

using Outcome = Ruling::Verdict;  // pass, reject, review, unchanged

// --- step 1 -------------------------------------------------------------------------------------

// One line of the answer: a difference, a known defect, a broken layer map, a flag without effect.
struct Finding {
  std::string name;                           // "model.x", "env.X", of a defect its id
  std::optional<base::Json> base, candidate;  // nothing: not stated
  std::string kind;                           // "batch", "layout-only", "known defect", ...
  Outcome verdict = Outcome::review;
  std::string why, source;
  bool unasked = false;  // moved although the request did not name it
};

struct GateSide {
  const recipe::Run& run;
  // What was asked for, where that is known: names no request holds are then flagged when they
  // move.
  const recipe::FinalValues* requested = nullptr;
};

struct GateReport {
  Outcome verdict = Outcome::reject;
  std::string summary;  // one line
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // what was not compared, defects that both sides have
  std::string effective_hash;      // of the candidate
};

// As far as a launch of the snapshot depends on it.
inline Ruling ruling_of(const GateReport& report, std::string snapshot) {
  return {report.verdict, report.effective_hash, std::move(snapshot), report.summary};
}

GateReport gate_before(const GateSide& original, const GateSide& candidate, const Register& by,
                       const Defects& defects);

// --- step 2 -------------------------------------------------------------------------------------

struct AfterReport {
  Sign sign = Sign::missing;  // suspect: reported, and needs a confirming repeat
  std::string summary;
  std::vector<SignalFinding> signals;
  std::vector<std::string> notes;
};

// `baselines`: at least one, the first is the reference; `variants`: legitimate runs of the same
// class of change, or none.
AfterReport gate_after(std::span<const Evidence> baselines, std::span<const Evidence> variants,
                       const Evidence& candidate, const recipe::FinalValues& original);

}  // namespace setpoint::judge
