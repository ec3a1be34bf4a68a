// SPDX-License-Identifier: Apache-2.0
// The one chain by which every operator gets its time: its own tables; else a sister's, scaled by
// floor + roofline where shape, format or GPU differ; else the embedded model; else the roofline
// at the family's efficiency. The first link that can answer does.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "perfdb/perfdb.h"
#include "perfdb/priced.h"
#include "perfdb/tables.h"

namespace setpoint::perfdb {

class Chain {
 public:
  // `store` may be null: no tables at all.
  Chain(std::shared_ptr<const Store> store, hw::System system, std::string framework,
        std::string version, DataMode mode);
  Result<BoundOp> bind(const ops::Op& op) const;

 private:
  // Tables of other versions and frameworks on this system, and of other systems, nearest first.
  struct Sisters {
    std::vector<std::unique_ptr<const Tables>> versions, frameworks, systems;
  };
  using Found = Result<std::optional<Priced>>;

  Result<const Sisters*> sisters() const;
  Result<Sisters> find_sisters() const;
  Found from_tables(const ops::Op& op) const;
  Found borrow(const ops::Op& op) const;
  Found first_of(const std::vector<std::unique_ptr<const Tables>>& tables, const ops::Op& op) const;
  // `there` on `tables`, brought to `op` on this system.
  Found brought(const Tables& tables, const ops::Op& there, const ops::Op& op) const;
  Error missing(const ops::Op& op) const;

  std::shared_ptr<const Store> store_;
  hw::System system_;
  std::string framework_, version_;
  DataMode mode_;
  std::unique_ptr<const Tables> own_;  // null without a store
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const Sisters> sisters_;
};

}  // namespace setpoint::perfdb
