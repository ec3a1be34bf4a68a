// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/disk.h"
#include "ledger/files.h"
#include "ledger/record.h"

namespace setpoint::ledger {
namespace {

// What the record must be beside whole: the next one of this campaign.
std::optional<std::string> not_next(const Chain& chain, const Record& record) {
  const auto seq = static_cast<std::int64_t>(chain.records.size());
  if (record.seq != seq) {
    return fmt::format("expected seq {}, found {}: records are missing or out of order", seq,
                       record.seq);
  }
  if (record.prev_hash != (seq == 0 ? kNoHash : chain.records.back().hash)) {
    return "prev_hash is not the hash of the record before: a record was changed or replaced";
  }
  if ((record.kind == "contract") != (seq == 0)) return "record 0 and no other is the contract";
  if (seq > 0) {
    if (record.campaign == chain.records[0].campaign) return std::nullopt;
    return "the record is of another campaign";
  }
  const auto campaign = campaign_of(record.fields);
  if (campaign && *campaign == record.campaign) return std::nullopt;
  return "campaign is not the hash of the contract";
}

}  // namespace

Chain read_chain(std::string_view text) {
  Chain chain;
  while (true) {
    const std::size_t end = text.find('\n', chain.whole_bytes);
    if (end == std::string_view::npos) break;
    auto record = open_line(text.substr(chain.whole_bytes, end - chain.whole_bytes));
    const std::size_t line = chain.records.size() + 1;
    if (!record) {
      chain.stopped = Break{line, record.error().text};
      return chain;
    }
    if (auto reason = not_next(chain, *record)) {
      chain.stopped = Break{line, *std::move(reason)};
      return chain;
    }
    chain.records.push_back(*std::move(record));
    chain.whole_bytes = end + 1;
  }
  chain.torn_bytes = text.size() - chain.whole_bytes;
  return chain;
}

std::optional<Break> check_head(const Chain& chain, const std::optional<std::string>& head) {
  if (chain.stopped) return chain.stopped;
  const std::size_t next = chain.records.size() + 1;
  if (!head) {
    if (chain.records.empty()) return std::nullopt;
    return Break{next, fmt::format("{} is missing: records may be lost here", kHeadFile)};
  }
  const auto known = parse_head(*head);
  if (!known) return Break{next, known.error().text};
  if (known->seq >= std::int64_t(chain.records.size())) {
    return Break{next, fmt::format("{} names record {}, the ledger ends at {}: records are lost",
                                   kHeadFile, known->seq, std::int64_t(next) - 2)};
  }
  const auto at = static_cast<std::size_t>(known->seq);
  if (known->seq < 0 || chain.records[at].hash == known->hash) return std::nullopt;
  return Break{at + 1, fmt::format("{} has another hash for this record", kHeadFile)};
}

Result<Chain> read_ledger(const std::string& folder) {
  const base::RealDisk disk;
  return read_ledger(disk, folder);
}

Result<Chain> read_ledger(const base::Disk& disk, const std::filesystem::path& folder) {
  SP_TRY(const std::string text, disk.read(folder / kLedgerFile));
  std::optional<std::string> head;
  if (disk.exists(folder / kHeadFile)) {
    SP_TRY(head, disk.read(folder / kHeadFile));
  }
  Chain chain = read_chain(text);
  chain.stopped = check_head(chain, head);
  return chain;
}

}  // namespace setpoint::ledger
