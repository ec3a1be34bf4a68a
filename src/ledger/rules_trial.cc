// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ledger/rules.h"

namespace setpoint::ledger {
namespace {

using judge::Allocation, judge::Hold, judge::Job, judge::Purpose, judge::Purse;

constexpr double kRoundingShare = 1e-9;  // sums of doubles agree to this share
constexpr double kLatest = 1e12;         // seconds
constexpr std::int64_t kMostGpus = 1 << 20;

Error refuse(std::string text) { return Error::bad_input(std::move(text)); }

bool same(double a, double b) {
  return std::fabs(a - b) <= kRoundingShare * std::max({std::fabs(a), std::fabs(b), 1.0});
}

// Launches belong to phases: the baseline's own to its phase, all others after it.
bool may_launch(Phase phase, Purpose purpose) {
  if (judge::info(purpose).purse == Purse::baseline) return phase == Phase::baseline;
  return phase == Phase::searching || phase == Phase::finishing ||
         (phase == Phase::ready && purpose != Purpose::trial) ||
         (phase == Phase::baseline && purpose == Purpose::check);
}

Result<Seconds> seconds(const base::JsonView& view, std::string_view key) {
  SP_TRY(const auto member, view.at(key));
  SP_TRY(const double value, member.number(-kLatest, kLatest));
  return Seconds(value);
}

Result<std::string> name(const base::JsonView& view, std::string_view key) {
  SP_TRY(const auto member, view.at(key));
  return member.string();
}

Result<std::vector<Hold>> read_holds(const Record& record) {
  SP_TRY(const auto nodes, record.view().at("nodes"));
  SP_TRY(const auto items, nodes.items());
  std::vector<Hold> holds;
  for (const base::JsonView& item : items) {
    Hold hold;
    SP_TRY(hold.node, name(item, "node"));
    SP_TRY(const auto gpus, item.at("gpus"));
    SP_TRY(const std::int64_t count, gpus.integer(1, kMostGpus));
    hold.gpus = static_cast<int>(count);
    SP_TRY(hold.start, seconds(item, "start_s"));
    holds.push_back(std::move(hold));
  }
  return holds;
}

bool all_released(const Allocation& allocation) {
  return allocation.free_at || std::all_of(allocation.holds.begin(), allocation.holds.end(),
                                           [](const Hold& hold) { return hold.end.has_value(); });
}

// Only a launch that has ended leaves the way free, unless the contract gives disjoint GPU sets.
bool another_runs(const CampaignState& state) {
  const auto running = std::count_if(state.trials().begin(), state.trials().end(),
                                     [](const Trial& t) { return t.open() && t.outcome.empty(); });
  const base::Json options = state.contract()->fields.value("options", base::Json::object());
  const base::Json sets = options.value("gpu_sets", base::Json(1));
  return running >= (sets.is_number_unsigned() ? sets.get<std::int64_t>() : 1);
}

}  // namespace

Result<Trial*> Rules::trial(CampaignState& state, const Record& record) {
  const std::string id = record.text("trial");
  for (Trial& trial : state.trials_) {
    if (trial.id == id) return &trial;
  }
  return refuse(fmt::format("there is no trial {}", id));
}

Result<void> Rules::intent(CampaignState& state, const Record& record) {
  Trial made;
  made.id = record.text("trial");
  for (const judge::PurposeInfo& one : judge::kPurposes) {
    if (one.name == record.text("purpose")) made.purpose = one.purpose;
  }
  if (state.trial(made.id) != nullptr) return refuse("the trial is there already");
  for (const Trial& other : state.trials_) {
    if (other.lease == record.text("lease")) return refuse("the lease is another trial's");
  }
  if (!may_launch(state.phase_, made.purpose)) {
    return refuse(fmt::format("no {} run may start in phase {}", record.text("purpose"),
                              kPhases[static_cast<std::size_t>(state.phase_)]));
  }
  if (another_runs(state)) return refuse("another trial is running");
  made.proposal = record.text_or("proposal", "");
  if (!made.proposal.empty()) {
    const Proposal* proposal = state.proposal(made.proposal);
    if (proposal == nullptr || proposal->effective_hash != record.text("effective_hash")) {
      return refuse("the proposal was not judged with this effective hash");
    }
    if (proposal->verdict != "pass" && proposal->verdict != "review") {
      return refuse("the proposal did not pass the gate");
    }
  } else if (made.purpose == Purpose::trial) {
    return refuse("a trial needs its proposal");
  }
  made.snapshot = record.text("snapshot");
  made.effective_hash = record.text("effective_hash");
  made.lease = record.text("lease");
  if (record.number("gpus") > kMostGpus) return refuse("more GPUs than any cluster has");
  made.gpus = static_cast<int>(record.number("gpus"));
  made.limit = Seconds(record.number("time_limit_s"));
  made.reserve = GpuHours(record.number("reserve_gpu_hours"));
  if (!same(made.reserve.value(), held(made.gpus, made.limit).value())) {
    return refuse("the reserve is not GPUs times time limit");
  }
  if (state.contract_->baseline_purse) made.purse = judge::info(made.purpose).purse;
  made.intent_seq = record.seq;
  state.trials_.push_back(std::move(made));
  return {};
}

Result<void> Rules::allocation(CampaignState& state, const Record& record) {
  SP_TRY(Trial * owner, trial(state, record));
  const std::string id = record.text("allocation");
  if (owner->charged) return refuse("the trial is charged already");
  if (!owner->allocation.empty() && owner->allocation != id) {
    return refuse(fmt::format("the trial holds allocation {}", owner->allocation));
  }
  SP_TRY(std::vector<Hold> holds, read_holds(record));
  const bool known = state.allocations_.contains(id);
  if (!known && holds.empty()) return refuse("a new allocation needs nodes");
  Allocation& into = state.allocations_[id];
  if (!known) {
    into.id = id;
    into.seen_start = Seconds(record.time);
  }
  for (Hold& hold : holds) {
    if (std::find(into.holds.begin(), into.holds.end(), hold) == into.holds.end()) {
      into.holds.push_back(std::move(hold));
    }
  }
  if (!holds.empty()) into.free_at.reset();
  if (owner->allocation.empty()) into.jobs.push_back({owner->id, {}, {}});
  owner->allocation = id;
  owner->released = all_released(into);
  return {};
}

Result<void> Rules::release(CampaignState& state, const Record& record) {
  const auto found = state.allocations_.find(record.text("allocation"));
  if (found == state.allocations_.end()) return refuse("there is no such allocation");
  const std::string how = record.text("how");
  if (how == "node_failure" && !record.has("health_record")) {
    return refuse("a node failure needs the cluster's health record");
  }
  Allocation after = found->second;
  SP_TRY(const auto nodes, record.view().at("nodes"));
  SP_TRY(const auto items, nodes.items());
  for (const base::JsonView& item : items) {
    SP_TRY(const std::string node, name(item, "node"));
    SP_TRY(const Seconds end, seconds(item, "end_s"));
    const auto open = std::find_if(after.holds.begin(), after.holds.end(), [&](const Hold& hold) {
      return hold.node == node && !hold.end;
    });
    if (open == after.holds.end()) return item.error("the node is not held");
    open->end = end;
  }
  if (how == "observed_free") {
    SP_TRY(after.free_at, seconds(record.view(), "cluster_now_s"));
  }
  after.seen_end = Seconds(record.time);
  found->second = std::move(after);
  for (Trial& trial : state.trials_) {
    if (trial.allocation != found->first) continue;
    trial.released = all_released(found->second);
    trial.ended_by = how;
  }
  return {};
}

Result<void> Rules::run(CampaignState& state, const Record& record) {
  SP_TRY(Trial * ran, trial(state, record));
  if (!ran->outcome.empty()) return refuse("the trial has ended already");
  if (ran->charged) return refuse("the trial is charged already");
  for (const char* clock : {"start_s", "end_s"}) {
    if (record.has(clock)) SP_CHECK(seconds(record.view(), clock));
  }
  ran->outcome = record.text("outcome");
  const auto allocation = state.allocations_.find(ran->allocation);
  if (allocation == state.allocations_.end()) return {};
  for (Job& job : allocation->second.jobs) {
    if (job.trial != ran->id) continue;
    if (record.has("start_s")) job.start = Seconds(record.number("start_s"));
    if (record.has("end_s")) job.end = Seconds(record.number("end_s"));
  }
  return {};
}

Result<void> Rules::gate2(CampaignState& state, const Record& record) {
  SP_TRY(Trial * judged, trial(state, record));
  if (judged->outcome.empty()) return refuse("the trial has not ended");
  if (!judged->gate2.empty()) return refuse("the trial is judged already");
  judged->gate2 = record.text("verdict");
  return {};
}

Result<void> Rules::score(CampaignState& state, const Record& record) {
  SP_TRY(Trial * scored, trial(state, record));
  if (scored->score) return refuse("the trial is scored already");
  if (scored->outcome != "done") return refuse("only a run that was done has a score");
  if (scored->gate2 != "ok" && scored->gate2 != "suspect") {
    return refuse("only a run that the second step let pass has a score");
  }
  const double value = record.number("tokens_per_s_per_gpu");
  if (record.yes("beats") != (value > record.number("threshold"))) {
    return refuse("\"beats\" is not what score and threshold say");
  }
  scored->score = value;
  scored->beats = record.yes("beats");
  scored->parked = record.yes("parked");
  return {};
}

Result<void> Rules::promotion(CampaignState& state, const Record& record) {
  SP_TRY(Trial * first, trial(state, record));
  const Trial* second = state.trial(record.text("confirming_trial"));
  if (second == nullptr || second == first || !first->score || !second->score) {
    return refuse("a promotion needs two scored runs");
  }
  if (first->effective_hash != second->effective_hash) return refuse("the two runs are not alike");
  const double mean = (*first->score + *second->score) / 2;
  if (!same(mean, record.number("mean"))) return refuse("the mean is not that of the two scores");
  if (record.yes("replaced") != (record.number("mean") > record.number("threshold"))) {
    return refuse("\"replaced\" is not what mean and threshold say");
  }
  if (record.yes("replaced")) state.incumbent_ = Incumbent{first->id, record.number("mean")};
  return {};
}

Result<void> Rules::charge(CampaignState& state, const Record& record) {
  SP_TRY(Trial * charged, trial(state, record));
  const GpuHours cost(record.number("gpu_hours"));
  const auto purse = static_cast<std::size_t>(charged->purse);
  if (record.text("purse") != judge::kPurses[purse] ||
      record.text("category") != judge::info(charged->purpose).name) {
    return refuse("purse and category are not those of the trial's purpose");
  }
  if (record.text_or("allocation", "") != charged->allocation) {
    return refuse("the allocation is not the trial's");
  }
  if (charged->outcome.empty()) return refuse("the trial has not ended");
  if (!charged->allocation.empty() && !charged->released) return refuse("GPUs are still held");
  const bool correction = record.has("corrects");
  if (correction != charged->charged.has_value()) {
    return refuse(correction ? "there is no charge to correct" : "the trial is charged already");
  }
  if (correction && record.number("corrects") != double(charged->charge_seq)) {
    return refuse("it corrects another record than the trial's last charge");
  }
  const GpuHours change = cost - charged->charged.value_or(GpuHours(0));
  if (!same((state.spent_[purse] + change).value(), record.number("total_gpu_hours"))) {
    return refuse("the running total does not add up");
  }
  const bool over = cost.value() > charged->reserve.value() * (1 + kRoundingShare);
  if (record.yes("overrun") != over)
    return refuse("\"overrun\" is not what charge and reserve say");
  state.spent_[purse] += change;
  state.by_category_[record.text("category")] += change;
  state.overrun_ = state.overrun_ || over;
  charged->charged = cost;
  charged->charge_seq = record.seq;
  return {};
}

}  // namespace setpoint::ledger
