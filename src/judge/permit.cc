// SPDX-License-Identifier: Apache-2.0
#include "judge/permit.h"

#include <fmt/format.h>

#include <algorithm>

namespace setpoint::judge {
namespace {

Error refuse(std::string text) { return {ErrorCode::no, "not admitted: " + std::move(text)}; }

bool may_run(Ruling::Verdict verdict, Purpose purpose) {
  using Verdict = Ruling::Verdict;
  return verdict == Verdict::pass || verdict == Verdict::review ||
         (verdict == Verdict::unchanged && purpose != Purpose::trial);
}

}  // namespace

Result<Permit> admit(const Ruling& ruling, const BudgetDecision& budget,
                     const ledger::Synced& intent) {
  const ledger::Record& record = intent.record();
  if (record.kind != "intent") return refuse("the record is no intent");
  const auto* const purpose =
      std::find_if(kPurposes.begin(), kPurposes.end(),
                   [&](const PurposeInfo& one) { return one.name == record.text("purpose"); });
  if (!may_run(ruling.verdict, purpose->purpose)) {
    return refuse(fmt::format("the gate says {}: {}", ruling.name(), ruling.reason));
  }
  if (!budget.admitted) return refuse(budget.reason);
  if (ruling.snapshot != record.text("snapshot") ||
      ruling.effective_hash != record.text("effective_hash")) {
    return refuse("the intent names another snapshot than the one that was judged");
  }
  if (record.number("gpus") != double(budget.gpus) ||
      record.number("time_limit_s") != budget.limit.value() ||
      record.number("reserve_gpu_hours") != budget.reserve.value()) {
    return refuse("the intent asks for more or less than the budget admitted");
  }
  Permit permit;
  permit.campaign_ = record.campaign;
  permit.trial_ = record.text("trial");
  permit.lease_ = record.text("lease");
  permit.snapshot_ = record.text("snapshot");
  permit.gpus_ = budget.gpus;
  permit.time_limit_ = budget.limit;
  permit.purpose_ = purpose->purpose;
  return permit;
}

}  // namespace setpoint::judge
