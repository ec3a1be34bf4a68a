// SPDX-License-Identifier: Apache-2.0
// attune ledger verify: was anything changed, left out or reordered, and do the charges add up.
#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/ledger.h"

namespace setpoint::cli {
namespace {

base::Json document(const std::string& folder, const ReadLedger& read) {
  const ledger::Chain& chain = read.chain;
  base::Json json{{"folder", folder},
                  {"whole", read.faults.empty()},
                  {"records", chain.records.size()},
                  {"torn_bytes", chain.torn_bytes},
                  {"faults", read.faults},
                  {"last", nullptr}};
  if (!chain.records.empty()) {
    const ledger::Record& last = chain.records.back();
    json["campaign"] = last.campaign;
    json["last"] = {{"seq", last.seq}, {"hash", last.hash}, {"time", last.time}};
  }
  return json;
}

std::string text_of(const ReadLedger& read) {
  const ledger::Chain& chain = read.chain;
  std::string text = base::count_of(std::int64_t(chain.records.size()), "record");
  if (!chain.records.empty()) {
    const ledger::Record& last = chain.records.back();
    text += fmt::format(", the last of {} UTC\ncampaign   {}\nlast hash  {}", utc(last.time),
                        last.campaign, last.hash);
  }
  text += "\n";
  if (chain.torn_bytes > 0) {
    text += fmt::format("a torn last line of {} bytes: dropped when the campaign goes on\n",
                        chain.torn_bytes);
  }
  for (const std::string& fault : read.faults) text += "fault: " + one_line(fault, 90) + "\n";
  return text + (read.faults.empty() ? "the ledger is whole\n" : "the ledger is NOT whole\n");
}

Result<int> verify(const std::string& folder, const Console& console) {
  SP_TRY(const ReadLedger read, read_books(folder));
  SP_CHECK(console.print(console.json ? base::json_text(document(folder, read), 2) + "\n"
                                      : text_of(read)));
  return read.faults.empty() ? kDone : kNo;
}

}  // namespace

Action ledger_verify_command(Flags& flags) {
  auto folder = std::make_shared<std::string>();
  declare_folder(flags, *folder);
  return [folder](const Console& console) { return verify(*folder, console); };
}

}  // namespace setpoint::cli
