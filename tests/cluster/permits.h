// SPDX-License-Identifier: Apache-2.0
// Permits for tests, made the only way there is: by a judge over a ledger.
#pragma once

#include <gtest/gtest.h>

#include "judge/permit.h"
#include "recipe/snapshot.h"
#include "support/campaign_records.h"
#include "support/memory_disk.h"

namespace setpoint::cluster {

inline judge::Permit permit_for(const recipe::Snapshot& snapshot, const std::string& trial,
                                int gpus, double limit_s) {
  test::MemoryDisk disk;
  auto ledger = ledger::Ledger::open(disk, "campaign", test::counting_clock()).value();
  test::Records records;
  base::Json contract = test::contract_fields();
  contract["gpus"] = gpus;
  contract["time_limit_s"] = limit_s;
  contract["baseline_purse_gpu_hours"] = 1e9;
  records.add("contract", contract);
  records.phase("baseline");
  const std::string hash = test::digest("effective");
  records.add("intent", {{"trial", trial},
                         {"purpose", "baseline"},
                         {"snapshot", snapshot.digest()},
                         {"effective_hash", hash},
                         {"gpus", gpus},
                         {"time_limit_s", limit_s},
                         {"reserve_gpu_hours", gpus * limit_s / 3600},
                         {"lease", "lease-" + trial}});
  const auto written = test::write_all(ledger, records.all);
  EXPECT_TRUE(written.ok()) << written.error().text;
  const judge::Ruling ruling{judge::Ruling::Verdict::unchanged, hash, snapshot.digest(),
                             "baseline"};
  const auto budget = judge::decide_budget(ledger.state().account(judge::Purse::baseline, trial),
                                           gpus, Seconds(limit_s));
  auto permit = judge::admit(ruling, budget, ledger.synced(2).value());
  EXPECT_TRUE(permit.ok()) << permit.error().text;
  return std::move(permit).value();
}

}  // namespace setpoint::cluster
