// SPDX-License-Identifier: Apache-2.0
// A campaign's ledger as the commands that read it need it: the chain, its fold, and whether both
// hold.
#pragma once

#include <string>

#include "cli/flags.h"
#include "judge/audit.h"
#include "ledger/state.h"

namespace setpoint::cli {

struct ReadLedger {
  ledger::Chain chain;
  ledger::CampaignState state;      // of the records up to the first fault
  std::vector<std::string> faults;  // empty: whole
};

void declare_folder(Flags& flags, std::string& folder);
// Faults are part of the answer; an error means that it cannot be read.
Result<ReadLedger> read_books(const std::string& folder);

std::string utc(double seconds);  // "2026-11-29 23:20:00"
// Text that an agent or a log may have written, in one line of at most `most` ASCII characters.
std::string one_line(const std::string& text, std::size_t most);

}  // namespace setpoint::cli
