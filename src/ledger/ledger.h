// SPDX-License-Identifier: Apache-2.0
// The one writer of a campaign's ledger. It holds the lock, refuses to go on behind a broken chain,
// and lets nothing be appended that the state does not allow. "Write the intent, act, write the
// result": whoever acts outside asks for a Synced record first, which exists only for what is safe
// on the disk.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "ledger/state.h"
#include "setpoint/ledger.h"

namespace setpoint::ledger {

struct Draft {
  std::string kind;
  base::Json fields = base::Json::object();
  Actor actor = Actor::judge;
};

// A record that is on the disk, with the head file that says so.
class Synced {
 public:
  const Record& record() const { return record_; }

 private:
  friend class Ledger;
  explicit Synced(Record record) : record_(std::move(record)) {}
  Record record_;
};

class Ledger {
 public:
  using Clock = std::function<double()>;  // seconds since 1970 UTC

  // Makes the ledger where there is none; the folder must be there. A torn last line is dropped and
  // a note appended. Fails when another process writes it, or when the chain is broken (code `no`:
  // the campaign must stop; the text has line and reason).
  static Result<Ledger> open(base::Disk& disk, const std::filesystem::path& folder, Clock clock);

  // Written, not yet safe. The first must be the contract. After a failed write nothing more is
  // taken: the file may end in half a line, which only opening it again clears up.
  Result<Record> append(const Draft& draft);
  Result<void> sync();
  Result<Synced> append_synced(const Draft& draft);
  // One that was written before, so that a launch that a crash cut off can be taken up again.
  Result<Synced> synced(std::int64_t seq);

  const std::vector<Record>& records() const { return records_; }
  const CampaignState& state() const { return state_; }

 private:
  Ledger(base::Disk& disk, std::filesystem::path folder, Clock clock, base::Disk::Lock lock)
      : disk_(&disk),
        folder_(std::move(folder)),
        clock_(std::move(clock)),
        lock_(std::move(lock)) {}
  Result<std::size_t> load();  // gives the bytes of a torn line that was dropped
  Result<void> written(Result<void> done);

  base::Disk* disk_;
  std::filesystem::path folder_;
  Clock clock_;
  base::Disk::Lock lock_;
  std::vector<Record> records_;
  CampaignState state_;
  std::size_t synced_ = 0;  // records that the head file covers
  bool broken_ = false;
};

}  // namespace setpoint::ledger
