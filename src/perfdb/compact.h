// SPDX-License-Identifier: Apache-2.0
// The compact model: measured efficiencies of every operator family in less than 200 kB, so that a
// binary without any database still answers from measurements. It is fitted by tools/fit_compact to
// the imported tables and travels inside the binary as perfdb/compact.bin.
//   time = (floor + roofline) / exp(value on coarse log2 knots)
// What it costs in accuracy, family by family: docs/accuracy-compact.md.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hw/system.h"
#include "ops/op.h"
#include "perfdb/compact_blob.h"
#include "setpoint/result.h"
#include "setpoint/units.h"

namespace setpoint::perfdb {

class CompactModel {
 public:
  // One operator on one system with its coefficients found. Valid as long as its model.
  class Bound {
   public:
    // Total, pure, no allocation. Points below one token, batch or position are taken as one.
    Ms at(const ops::Point& point) const;
    // Expected relative error of at(): the set's own error on its table, and what borrowing adds.
    double sigma() const { return sigma_; }
    // Whose measurements these are; the asked system and framework unless borrowed().
    const compact::Set& set() const { return *set_; }
    bool borrowed() const { return borrowed_; }

   private:
    friend class CompactModel;
    Bound(const compact::Set& set, const hw::System& system, const ops::Op& op);
    const compact::Set* set_;
    const compact::Form* form_;
    // The set's terms with the axes that no point moves folded away.
    std::vector<compact::Term> terms_;
    std::vector<double> values_;
    hw::System system_;
    ops::Op op_;
    compact::Fixed fixed_;
    double sigma_ = 0;
    bool borrowed_ = false;
  };

  // The model inside the binary, read once; an error if it was built from a damaged file.
  static const Result<CompactModel>& embedded();
  static Result<CompactModel> read(std::string_view bytes);

  // The set that is expected to err least: this system and framework; else a sister system of the
  // same generation, whose efficiency then meets this system's roofline; else another framework,
  // another head size, window or number format of the same pipe. None where nothing is that near.
  // Collectives do not depend on the framework.
  std::optional<Bound> bind(const hw::System& system, std::string_view framework,
                            const ops::Op& op) const;

  const std::string& origin() const { return blob_.origin; }
  const std::vector<compact::Set>& sets() const { return blob_.sets; }

 private:
  struct Place {
    std::size_t set, system;
  };

  compact::Blob blob_;
  std::vector<hw::System> systems_;            // that sets name
  std::vector<std::vector<Place>> by_family_;  // in the order of compact::forms()
};

}  // namespace setpoint::perfdb
