// SPDX-License-Identifier: Apache-2.0
// attune budget: what was spent on what, what is reserved, what is left.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/ledger.h"
#include "cli/list.h"

namespace setpoint::cli {
namespace {

constexpr std::array kPurseColumns{ListColumn{"purse", "purse"},
                                   ListColumn{"budget_gpu_hours", "budget", "GPU-hours"},
                                   ListColumn{"spent_gpu_hours", "spent", "GPU-hours"},
                                   ListColumn{"reserved_gpu_hours", "reserved", "GPU-hours"},
                                   ListColumn{"left_gpu_hours", "left", "GPU-hours"}};
constexpr std::array kCategoryColumns{
    ListColumn{"category", "category"}, ListColumn{"launches", "launches"},
    ListColumn{"spent_gpu_hours", "spent", "GPU-hours"},
    ListColumn{"failed_gpu_hours", "on failed runs", "GPU-hours"}};

base::Json purses(const ledger::CampaignState& state) {
  base::Json rows = base::Json::array();
  for (const judge::Purse purse : {judge::Purse::campaign, judge::Purse::baseline}) {
    if (purse == judge::Purse::baseline && !state.contract()->baseline_purse) continue;
    const judge::Account account = state.account(purse);
    rows.push_back({{"purse", judge::kPurses[static_cast<std::size_t>(purse)]},
                    {"budget_gpu_hours", account.budget.value()},
                    {"spent_gpu_hours", account.spent.value()},
                    {"reserved_gpu_hours", account.reserved.value()},
                    {"left_gpu_hours", account.left().value()}});
  }
  return rows;
}

base::Json categories(const ledger::CampaignState& state) {
  base::Json rows = base::Json::array();
  for (const judge::PurposeInfo& purpose : judge::kPurposes) {
    std::int64_t launches = 0;
    GpuHours spent, failed;
    for (const ledger::Trial& trial : state.trials()) {
      if (trial.purpose != purpose.purpose) continue;
      ++launches;
      const GpuHours cost = trial.charged.value_or(GpuHours(0));
      spent += cost;
      if (trial.outcome != "done") failed += cost;
    }
    if (launches == 0) continue;
    rows.push_back({{"category", purpose.name},
                    {"launches", launches},
                    {"spent_gpu_hours", spent.value()},
                    {"failed_gpu_hours", failed.value()}});
  }
  return rows;
}

Result<int> budget(const std::string& folder, const Console& console) {
  SP_TRY(const ReadLedger read, read_books(folder));
  if (!read.state.contract()) {
    return Error{ErrorCode::no, folder + ": the ledger has no contract: " +
                                    (read.faults.empty() ? "it is empty" : read.faults[0])};
  }
  const base::Json by_purse = purses(read.state), by_category = categories(read.state);
  const bool overrun = read.state.account(judge::Purse::campaign).overrun;
  std::string text;
  if (console.json) {
    text = base::json_text({{"campaign", read.state.contract()->name},
                            {"purses", by_purse},
                            {"categories", by_category},
                            {"overrun", overrun},
                            {"faults", read.faults}},
                           2) +
           "\n";
  } else {
    text = list_text(console.screen, by_purse, kPurseColumns);
    if (!by_category.empty())
      text += "\n" + list_text(console.screen, by_category, kCategoryColumns);
    if (overrun)
      text += "a run cost more than its reserve: nothing launches until a person resumes\n";
    for (const std::string& fault : read.faults) text += "fault: " + one_line(fault, 90) + "\n";
  }
  SP_CHECK(console.print(text));
  return read.faults.empty() ? kDone : kNo;
}

}  // namespace

Action budget_command(Flags& flags) {
  auto folder = std::make_shared<std::string>();
  declare_folder(flags, *folder);
  return [folder](const Console& console) { return budget(*folder, console); };
}

}  // namespace setpoint::cli
