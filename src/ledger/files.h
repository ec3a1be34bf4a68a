// SPDX-License-Identifier: Apache-2.0
// The files of a ledger in its campaign's folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "setpoint/ledger.h"

namespace setpoint::ledger {

inline constexpr const char* kLedgerFile = "ledger.jsonl";
inline constexpr const char* kHeadFile = "ledger.head";  // the last record that was synced
inline constexpr const char* kLockFile = "ledger.lock";

struct Head {
  std::int64_t seq = -1;  // -1: none yet
  std::string hash{kNoHash};
};
Result<Head> parse_head(std::string_view text);
std::string head_text(const Head& head);

// Ledger and head as they stand, checked; see setpoint/ledger.h.
Result<Chain> read_ledger(const base::Disk& disk, const std::filesystem::path& folder);

}  // namespace setpoint::ledger
