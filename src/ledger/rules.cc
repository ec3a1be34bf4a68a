// SPDX-License-Identifier: Apache-2.0
#include "ledger/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace setpoint::ledger {
namespace {

// phase -> those that may follow; paused may follow any, and leads back.
struct Transition {
  Phase from, to;
};
constexpr std::array kTransitions{
    Transition{Phase::created, Phase::baseline},
    Transition{Phase::baseline, Phase::ready},
    Transition{Phase::ready, Phase::searching},
    Transition{Phase::searching, Phase::finishing},
    Transition{Phase::finishing, Phase::reported},
    Transition{Phase::reported, Phase::lessons_review},
    Transition{Phase::lessons_review, Phase::closed},
    Transition{Phase::paused, Phase::baseline},  // a drift asks for a new baseline
};

bool ended(Phase phase) { return phase == Phase::closed || phase == Phase::stopped; }

Error refuse(std::string text) { return Error::bad_input(std::move(text)); }

constexpr int kFormat = 1;
constexpr std::int64_t kMostGpus = 1 << 20;

}  // namespace

Result<void> Rules::apply(CampaignState& state, const Record& record) {
  static constexpr std::array kRules{
      Rule{"contract", &contract},
      Rule{"phase", &phase},
      Rule{"stop", &stop},
      Rule{"baseline_run", &baseline_run},
      Rule{"noise", &noise},
      Rule{"hypothesis", &hypothesis},
      Rule{"proposal", &proposal},
      Rule{"gate1", &gate1},
      Rule{"refusal", &refusal},
      Rule{"lesson", &lesson},
      Rule{"intent", &intent},
      Rule{"lesson_review", &lesson_review},
      Rule{"allocation", &allocation},
      Rule{"release", &release},
      Rule{"run", &run},
      Rule{"gate2", &gate2},
      Rule{"score", &score},
      Rule{"promotion", &promotion},
      Rule{"charge", &charge},
  };
  if (!state.contract_ && record.kind != "contract") return refuse("there is no contract yet");
  const auto* const rule = std::find_if(kRules.begin(), kRules.end(),
                                        [&](const Rule& one) { return one.kind == record.kind; });
  return rule == kRules.end() ? Result<void>() : rule->apply(state, record);  // others: counted
}

Result<void> Rules::contract(CampaignState& state, const Record& record) {
  if (state.contract_) return refuse("a campaign has one contract");
  const base::JsonView view = record.view();
  SP_TRY(const auto format, view.at("format"));
  SP_CHECK(format.integer(kFormat, kFormat));
  SP_TRY(const auto gpus, view.at("gpus"));
  SP_TRY(const std::int64_t count, gpus.integer(1, kMostGpus));
  Contract contract;
  contract.name = record.text("name");
  contract.gpus = static_cast<int>(count);
  contract.time_limit = Seconds(record.number("time_limit_s"));
  contract.time_limit_factor = record.number("time_limit_factor");
  contract.budget = GpuHours(record.number("budget_gpu_hours"));
  if (record.has("baseline_purse_gpu_hours")) {
    contract.baseline_purse = GpuHours(record.number("baseline_purse_gpu_hours"));
  }
  contract.baseline_runs = static_cast<int>(std::min(record.number("baseline_runs"), 1e6));
  contract.fields = record.fields;
  state.contract_ = std::move(contract);
  return {};
}

Result<void> Rules::phase(CampaignState& state, const Record& record) {
  const auto to = static_cast<Phase>(std::find(kPhases.begin(), kPhases.end(), record.text("to")) -
                                     kPhases.begin());
  const Phase from = state.phase_;
  const bool back = from == Phase::paused && state.paused_from_ == to;
  const bool pause = to == Phase::paused && from != Phase::paused && !ended(from);
  const bool listed = std::any_of(kTransitions.begin(), kTransitions.end(), [&](const auto& one) {
    return one.from == from && one.to == to;
  });
  if (!back && !pause && !listed) {
    return refuse(fmt::format("{} does not follow {}", record.text("to"),
                              kPhases[static_cast<std::size_t>(from)]));
  }
  if (to == Phase::ready && !state.noise_) return refuse("ready needs the noise band");
  if (to == Phase::reported && state.count("report") == 0) return refuse("reported needs a report");
  if (to == Phase::reported && !state.open_trials().empty()) return refuse("a trial is still open");
  state.paused_from_ = pause ? std::optional(from) : std::nullopt;
  if (record.actor == Actor::person) state.overrun_ = false;  // somebody has looked
  state.phase_ = to;
  state.reason_ = record.text("reason");
  return {};
}

Result<void> Rules::stop(CampaignState& state, const Record& record) {
  if (ended(state.phase_)) return refuse("the campaign has ended already");
  state.phase_ = Phase::stopped;
  state.reason_ = record.text("reason");
  return {};
}

Result<void> Rules::baseline_run(CampaignState& state, const Record& record) {
  SP_TRY(const Trial* run, trial(state, record));
  if (run->purpose != judge::Purpose::baseline) return refuse("the trial is no baseline run");
  if (run->outcome.empty()) return refuse("the trial has not ended");
  BaselineRun made;
  made.trial = run->id;
  made.machines = record.fields.at("machines").get<std::vector<std::string>>();
  made.valid = record.yes("valid");
  if (record.has("tokens_per_s_per_gpu")) made.score = record.number("tokens_per_s_per_gpu");
  if (record.has("wall_s")) made.wall = Seconds(record.number("wall_s"));
  if (made.valid && !(made.score && made.wall)) return refuse("a valid run has a score and a time");
  for (const BaselineRun& other : state.baseline_) {
    if (other.trial == made.trial) return refuse("the run is recorded already");
  }
  state.baseline_.push_back(std::move(made));
  return {};
}

Result<void> Rules::noise(CampaignState& state, const Record& record) {
  if (state.phase_ != Phase::baseline) return refuse("the noise band belongs to the baseline");
  const auto runs = record.fields.at("runs").get<std::vector<std::string>>();
  for (const std::string& id : runs) {
    const bool valid = std::any_of(state.baseline_.begin(), state.baseline_.end(),
                                   [&](const auto& run) { return run.trial == id && run.valid; });
    if (!valid) return refuse(fmt::format("{} is no valid baseline run", id));
  }
  if (record.number("n") != double(runs.size())) return refuse("n is not the number of its runs");
  state.noise_ = Noise{static_cast<int>(runs.size()), record.number("mean"), record.number("sd"),
                       record.number("sigma"), record.number("band")};
  if (!state.incumbent_ || state.incumbent_->trial.empty()) {
    state.incumbent_ = Incumbent{"", record.number("mean")};
  }
  return {};
}

Result<void> Rules::hypothesis(CampaignState& state, const Record& record) {
  const std::string id = record.text("id");
  auto& known = state.hypotheses_;
  if (std::find(known.begin(), known.end(), id) != known.end()) {
    return refuse(fmt::format("hypothesis {} is there already", id));
  }
  known.push_back(id);
  return {};
}

Result<void> Rules::proposal(CampaignState& state, const Record& record) {
  const std::string id = record.text("id"), hypothesis = record.text_or("hypothesis", "");
  if (state.proposal(id) != nullptr) return refuse(fmt::format("proposal {} is there already", id));
  const auto& known = state.hypotheses_;
  if (!hypothesis.empty() && std::find(known.begin(), known.end(), hypothesis) == known.end()) {
    return refuse(fmt::format("there is no hypothesis {}", hypothesis));
  }
  state.proposals_.push_back({id, hypothesis, record.text("requested_hash"), "", "", ""});
  return {};
}

Result<Proposal*> Rules::proposal_of(CampaignState& state, const Record& record) {
  const std::string id = record.text("proposal");
  for (Proposal& proposal : state.proposals_) {
    if (proposal.id == id) return &proposal;
  }
  return refuse(fmt::format("there is no proposal {}", id));
}

Result<void> Rules::gate1(CampaignState& state, const Record& record) {
  SP_TRY(Proposal * proposal, proposal_of(state, record));
  if (!proposal->verdict.empty()) return refuse("the proposal is judged already");
  proposal->verdict = record.text("verdict");
  proposal->effective_hash = record.text("effective_hash");
  return {};
}

Result<void> Rules::refusal(CampaignState& state, const Record& record) {
  if (!record.has("proposal")) return {};
  SP_TRY(Proposal * proposal, proposal_of(state, record));
  proposal->refused = record.text("why");
  return {};
}

Result<void> Rules::lesson(CampaignState& state, const Record& record) {
  if (!state.lessons_.try_emplace(record.text("id"), "draft").second) {
    return refuse("the lesson is there already");
  }
  return {};
}

Result<void> Rules::lesson_review(CampaignState& state, const Record& record) {
  const auto it = state.lessons_.find(record.text("lesson"));
  if (it == state.lessons_.end()) return refuse("there is no such lesson");
  it->second = record.text("state");
  return {};
}

}  // namespace setpoint::ledger
