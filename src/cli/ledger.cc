// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace setpoint::cli {

void declare_folder(Flags& flags, std::string& folder) {
  flags.argument("FOLDER", folder, "The campaign's folder: ledger.jsonl and ledger.head");
}

Result<ReadLedger> read_books(const std::string& folder) {
  ReadLedger read;
  SP_TRY(read.chain, ledger::read_ledger(folder));
  for (const ledger::Record& record : read.chain.records) {
    if (auto applied = read.state.apply(record); !applied) {
      read.faults.push_back(fmt::format("line {}: {}", record.seq + 1, applied.error().text));
      break;
    }
  }
  if (const auto& stopped = read.chain.stopped) {
    read.faults.push_back(fmt::format("line {}: {}", stopped->line, stopped->reason));
  }
  for (const judge::Discrepancy& one : judge::audit(read.state)) {
    read.faults.push_back(fmt::format("{}: {:.6g} GPU-hours are charged, {:.6g} are due", one.what,
                                      one.charged.value(), one.due.value()));
  }
  return read;
}

std::string utc(double seconds) {
  constexpr double kLatest = 253402300799;  // 9999-12-31
  const auto whole = static_cast<std::time_t>(std::clamp(std::floor(seconds), 0.0, kLatest));
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(whole));
}

std::string one_line(const std::string& text, std::size_t most) {
  std::string out;
  for (const char c : text) out += c >= ' ' && c <= '~' ? c : '?';
  if (out.size() > most) out = out.substr(0, most - 3) + "...";
  return out;
}

}  // namespace setpoint::cli
