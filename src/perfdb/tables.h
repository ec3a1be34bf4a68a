// SPDX-License-Identifier: Apache-2.0
// The tables as one version of one framework on one system sees them: several files complete each
// other, best first, and the first that holds a point answers for it. Slices are read when first
// asked for and kept. Safe from several threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hw/system.h"
#include "perfdb/store.h"

namespace setpoint::perfdb {

using Keys = std::vector<std::string>;  // values of a family's exact keys, in its order

class Tables {
 public:
  Tables(std::shared_ptr<const Store> store, hw::System system, std::string framework,
         std::string version);

  const hw::System& system() const { return system_; }
  const std::string& framework() const { return framework_; }
  const std::string& version() const { return version_; }

  // Everything known under these keys, in one slice; null when no source has them. Families split
  // by kernel are asked kernel by kernel in the framework's order; the first that has the keys
  // answers alone.
  Result<std::shared_ptr<const Slice>> find(std::string_view op, const Keys& keys) const;
  // Answers with `slice` (null = nothing) instead of the store from now on. For experiments that
  // hide points from the rules.
  void put(std::string_view op, const Keys& keys, std::shared_ptr<const Slice> slice);
  // The distinct keys of a family, best source first.
  Result<std::vector<Keys>> keys(std::string_view op) const;

 private:
  struct Candidate {
    const OrderedSource* source;
    SliceHead head;
  };
  struct Listing {
    std::vector<OrderedSource> sources;
    std::vector<Candidate> heads;      // admitted ones, best source first
    std::vector<std::string> kernels;  // order in which kernels are asked; empty = not split
  };
  Result<const Listing*> family(std::string_view op) const;
  Result<std::vector<OrderedSource>> sources_of(std::string_view op) const;
  Result<std::vector<std::string>> kernel_order(const Listing& family) const;
  Result<std::shared_ptr<const Slice>> read(const Listing& family, const Keys& keys) const;

  std::shared_ptr<const Store> store_;
  hw::System system_;
  std::string framework_, version_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<const Listing>, std::less<>> families_;
  mutable std::map<std::pair<std::string, Keys>, std::shared_ptr<const Slice>> slices_;
};

}  // namespace setpoint::perfdb
