// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <fmt/format.h>

#include "ledger/files.h"
#include "ledger/record.h"

namespace setpoint::ledger {

Result<Ledger> Ledger::open(base::Disk& disk, const std::filesystem::path& folder, Clock clock) {
  SP_TRY(base::Disk::Lock lock, disk.lock(folder / kLockFile));
  if (!lock) {
    return Error::environment(
        fmt::format("{}: another process writes this ledger", folder.string()));
  }
  Ledger ledger(disk, folder, std::move(clock), std::move(lock));
  SP_TRY(const std::size_t torn, ledger.load());
  if (torn > 0 && ledger.state_.contract()) {
    SP_CHECK(ledger.append_synced(
        {"note", {{"text", fmt::format("a torn last line of {} bytes was dropped", torn)}}}));
  }
  return ledger;
}

// The head is there before the first record, so that its absence beside records means a loss. What
// was read may be in the machine's memory only: it is synced before anybody relies on it.
Result<std::size_t> Ledger::load() {
  const auto file = folder_ / kLedgerFile;
  const bool there = disk_->exists(file);
  std::string text;
  if (there) {
    SP_TRY(text, disk_->read(file));
  }
  if (text.empty() && !disk_->exists(folder_ / kHeadFile)) {
    SP_CHECK(disk_->replace(folder_ / kHeadFile, head_text({})));
  }
  if (!there) SP_CHECK(disk_->append(file, ""));
  SP_TRY(Chain chain, read_ledger(*disk_, folder_));
  if (chain.stopped) {
    return Error{ErrorCode::no, fmt::format("{}: line {}: {}", file.string(), chain.stopped->line,
                                            chain.stopped->reason)};
  }
  auto state = fold(chain.records);
  if (!state) return Error{ErrorCode::no, file.string() + ": " + state.error().text};
  if (chain.torn_bytes > 0) SP_CHECK(disk_->truncate(file, chain.whole_bytes));
  records_ = std::move(chain.records);
  state_ = *std::move(state);
  SP_CHECK(sync());
  return chain.torn_bytes;
}

Result<void> Ledger::written(Result<void> done) {
  if (!done) broken_ = true;
  return done;
}

Result<Record> Ledger::append(const Draft& draft) {
  if (broken_) return Error::environment("the ledger could not be written: open it again");
  Record record;
  record.seq = static_cast<std::int64_t>(records_.size());
  record.time = clock_();
  record.kind = draft.kind;
  record.actor = draft.actor;
  record.fields = draft.fields;
  record.prev_hash = records_.empty() ? std::string(kNoHash) : records_.back().hash;
  if (records_.empty()) {
    SP_TRY(record.campaign, campaign_of(draft.fields));
  } else {
    record.campaign = records_[0].campaign;
  }
  SP_TRY(const std::string line, seal(record));
  SP_TRY(Record same, open_line(line));  // exactly what a reader will see
  SP_CHECK(state_.apply(same));
  SP_CHECK(written(disk_->append(folder_ / kLedgerFile, line + "\n")));
  records_.push_back(same);
  return same;
}

Result<void> Ledger::sync() {
  if (broken_) return Error::environment("the ledger could not be written: open it again");
  if (synced_ == records_.size()) return {};
  SP_CHECK(written(disk_->sync(folder_ / kLedgerFile)));
  const Record& last = records_.back();
  SP_CHECK(written(disk_->replace(folder_ / kHeadFile, head_text({last.seq, last.hash}))));
  synced_ = records_.size();
  return {};
}

Result<Synced> Ledger::append_synced(const Draft& draft) {
  SP_TRY(Record record, append(draft));
  SP_CHECK(sync());
  return Synced(std::move(record));
}

Result<Synced> Ledger::synced(std::int64_t seq) {
  if (seq < 0 || seq >= static_cast<std::int64_t>(records_.size())) {
    return Error::bad_input(fmt::format("the ledger has no record {}", seq));
  }
  SP_CHECK(sync());
  return Synced(records_[static_cast<std::size_t>(seq)]);
}

}  // namespace setpoint::ledger
