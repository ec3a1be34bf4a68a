// SPDX-License-Identifier: Apache-2.0
#include "ledger/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "ledger/rules.h"

namespace setpoint::ledger {
namespace {

template <class T>
const T* by_id(const std::vector<T>& all, const std::string& id) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const T& one) { return one.id == id; });
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

Stage Trial::stage() const {
  if (score) return Stage::scored;
  if (!gate2.empty()) return Stage::judged;
  if (charged) return Stage::charged;
  if (released) return Stage::released;
  if (!outcome.empty()) return Stage::ended;
  return allocation.empty() ? Stage::intended : Stage::allocated;
}

const Trial* CampaignState::trial(const std::string& id) const { return by_id(trials_, id); }
const Proposal* CampaignState::proposal(const std::string& id) const {
  return by_id(proposals_, id);
}

std::vector<std::string> CampaignState::parked() const {
  std::vector<std::string> out;
  for (const Trial& trial : trials_) {
    if (trial.parked) out.push_back(trial.id);
  }
  return out;
}

std::vector<const Trial*> CampaignState::open_trials() const {
  std::vector<const Trial*> out;
  for (const Trial& trial : trials_) {
    if (trial.open()) out.push_back(&trial);
  }
  return out;
}

judge::Account CampaignState::account(judge::Purse purse, const std::string& without) const {
  judge::Account account;
  if (!contract_) return account;
  account.budget = purse == judge::Purse::campaign
                       ? contract_->budget
                       : contract_->baseline_purse.value_or(GpuHours(0));
  account.spent = spent_[static_cast<std::size_t>(purse)];
  for (const Trial* trial : open_trials()) {
    if (trial->purse == purse && trial->id != without) account.reserved += trial->reserve;
  }
  account.overrun = overrun_;
  return account;
}

std::size_t CampaignState::count(const std::string& kind) const {
  const auto it = counts_.find(kind);
  return it == counts_.end() ? 0 : it->second;
}

Result<void> CampaignState::apply(const Record& record) {
  if (auto done = Rules::apply(*this, record); !done) {
    return done.error().at(fmt::format("record {} ({})", record.seq, record.kind));
  }
  ++counts_[record.kind];
  return {};
}

Result<CampaignState> fold(const std::vector<Record>& records) {
  CampaignState state;
  for (const Record& record : records) SP_CHECK(state.apply(record));
  return state;
}

}  // namespace setpoint::ledger
