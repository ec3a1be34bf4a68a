// SPDX-License-Identifier: Apache-2.0
// attune ledger export: every launch as a row of a CSV file, or with --json as an object.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/ledger.h"

namespace setpoint::cli {
namespace {

base::Json row(const ledger::Trial& trial) {
  const auto or_null = [](bool known, auto value) {
    return known ? base::Json(value) : base::Json(nullptr);
  };
  return {{"trial", trial.id},
          {"purpose", judge::info(trial.purpose).name},
          {"proposal", or_null(!trial.proposal.empty(), trial.proposal)},
          {"stage", ledger::kStages[static_cast<std::size_t>(trial.stage())]},
          {"outcome", or_null(!trial.outcome.empty(), trial.outcome)},
          {"gate2", or_null(!trial.gate2.empty(), trial.gate2)},
          {"tokens_per_s_per_gpu", or_null(trial.score.has_value(), trial.score.value_or(0))},
          {"beats", trial.beats},
          {"gpus", trial.gpus},
          {"time_limit_s", trial.limit.value()},
          {"reserve_gpu_hours", trial.reserve.value()},
          {"gpu_hours",
           or_null(trial.charged.has_value(), trial.charged.value_or(GpuHours(0)).value())},
          {"purse", judge::kPurses[static_cast<std::size_t>(trial.purse)]},
          {"allocation", or_null(!trial.allocation.empty(), trial.allocation)},
          {"effective_hash", trial.effective_hash},
          {"snapshot", trial.snapshot}};
}

std::string cell(const base::Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string out;
  for (const char c : value.get_ref<const std::string&>()) {
    if (c == '"') out += '"';
    out += c;
  }
  return '"' + out + '"';
}

std::string csv(const base::Json& rows) {
  std::string text;
  for (const base::Json& row : rows) {
    if (text.empty()) {
      for (const auto& [name, value] : row.items()) text += (text.empty() ? "" : ",") + name;
      text += "\n";
    }
    std::string line;
    for (const auto& [name, value] : row.items()) line += (line.empty() ? "" : ",") + cell(value);
    text += line + "\n";
  }
  return text;
}

Result<int> export_trials(const std::string& folder, const Console& console) {
  SP_TRY(const ReadLedger read, read_books(folder));
  base::Json rows = base::Json::array();
  for (const ledger::Trial& trial : read.state.trials()) rows.push_back(row(trial));
  for (const std::string& fault : read.faults) console.note("fault: " + one_line(fault, 90));
  SP_CHECK(console.print(
      console.json ? base::json_text({{"faults", read.faults}, {"trials", rows}}, 2) + "\n"
                   : csv(rows)));
  return read.faults.empty() ? kDone : kNo;
}

}  // namespace

Action ledger_export_command(Flags& flags) {
  auto folder = std::make_shared<std::string>();
  declare_folder(flags, *folder);
  return [folder](const Console& console) { return export_trials(*folder, console); };
}

}  // namespace setpoint::cli
