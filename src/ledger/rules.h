// SPDX-License-Identifier: Apache-2.0
// What each kind of record does to the state, and when it is not allowed: one function a kind, each
// of which checks all before it changes anything.
#pragma once

#include "ledger/state.h"

namespace setpoint::ledger {

struct Rules {
  static Result<void> apply(CampaignState& state, const Record& record);

 private:
  using Apply = Result<void> (*)(CampaignState&, const Record&);
  struct Rule {
    std::string_view kind;
    Apply apply;
  };
  static Result<void> contract(CampaignState& state, const Record& record);
  static Result<void> phase(CampaignState& state, const Record& record);
  static Result<void> stop(CampaignState& state, const Record& record);
  static Result<void> baseline_run(CampaignState& state, const Record& record);
  static Result<void> noise(CampaignState& state, const Record& record);
  static Result<void> hypothesis(CampaignState& state, const Record& record);
  static Result<void> proposal(CampaignState& state, const Record& record);
  static Result<void> gate1(CampaignState& state, const Record& record);
  static Result<void> refusal(CampaignState& state, const Record& record);
  static Result<void> lesson(CampaignState& state, const Record& record);
  static Result<void> lesson_review(CampaignState& state, const Record& record);
  // rules_trial.cc: one launch from intent to promotion
  static Result<void> intent(CampaignState& state, const Record& record);
  static Result<void> allocation(CampaignState& state, const Record& record);
  static Result<void> release(CampaignState& state, const Record& record);
  static Result<void> run(CampaignState& state, const Record& record);
  static Result<void> gate2(CampaignState& state, const Record& record);
  static Result<void> score(CampaignState& state, const Record& record);
  static Result<void> promotion(CampaignState& state, const Record& record);
  static Result<void> charge(CampaignState& state, const Record& record);

  static Result<Trial*> trial(CampaignState& state, const Record& record);
  static Result<Proposal*> proposal_of(CampaignState& state, const Record& record);
};

}  // namespace setpoint::ledger
