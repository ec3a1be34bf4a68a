// SPDX-License-Identifier: Apache-2.0
// The PerfDatabase on disk, read-only: which tables were imported, and their slices. File format:
// docs/formats/perfdb.md. A Store knows nothing about interpolation; it hands out slices and the
// facts that order them (version slots, reuse, fill groups, attention lanes).
// Safe from several threads: one connection behind a mutex.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perfdb/slice.h"
#include "setpoint/result.h"

namespace setpoint::perfdb {

// One imported table: the rows of one file for one operator family.
struct SourceInfo {
  std::int64_t id = 0;
  std::string op;
  Provenance provenance;
  std::int64_t rows_read = 0, rows_kept = 0;
  std::int64_t rows_filtered = 0;  // left out by a rule of perfdb/ops.json
  std::int64_t rows_rejected = 0;  // bad: NaN, negative, zero where not allowed, wrong type
  std::int64_t duplicates = 0;     // same full key; the op's rule chose one
};

// A slice without its numbers: cheap to list and to filter.
struct SliceHead {
  std::int64_t id = 0;
  std::string kernel;
  std::vector<std::string> keys;  // values, in the order of OpShape::keys
};

// How an operator family is cut into slices.
struct OpShape {
  std::string op;
  bool kernel_is_key = false;     // false: rows of several kernels complete one grid (see merge())
  std::vector<std::string> keys;  // names of the exact keys
  std::vector<std::vector<std::string>> axes;  // outermost first; several names = a site axis
};

struct VersionSlots {  // empty = no such slot
  std::string current, previous, next;
};

// "rows of these kernels may stand in for each other between these frameworks"
struct FillGroup {
  std::string kernel;
  std::vector<std::string> frameworks;
};

class Store {
 public:
  // Fails with one line on a missing, foreign, truncated or newer file.
  static Result<Store> open(const std::filesystem::path& file);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::filesystem::path& file() const;
  Result<OpShape> shape(std::string_view op) const;  // unknown op: names the nearest
  Result<std::vector<std::string>> ops() const;
  Result<std::vector<std::string>> systems() const;  // with at least one table

  // All tables of an operator on a system, every framework and version; empty `system`/`op` = all.
  // Order: framework, version, then own measurements before packages, newest import first.
  Result<std::vector<SourceInfo>> sources(std::string_view system, std::string_view op) const;

  // Slices of one table in first-seen order. The first wins where two of them hold one point.
  Result<std::vector<SliceHead>> heads(const SourceInfo& source) const;
  Result<Slice> read(const SourceInfo& source, const SliceHead& head) const;

  // Facts of the package that decide which tables answer for a version. Versions as in
  // Provenance; all empty when the import had none.
  Result<std::optional<VersionSlots>> slots(std::string_view system,
                                            std::string_view framework) const;
  // Versions whose table an incomplete version declares to reuse, in the declared order.
  Result<std::vector<std::string>> reuse(std::string_view system, std::string_view framework,
                                         std::string_view version, std::string_view op) const;
  Result<std::vector<FillGroup>> fill_groups(std::string_view op) const;
  // Default attention kernel of a framework by the floor version that `version` reaches.
  Result<std::optional<std::string>> default_lane(std::string_view framework,
                                                  std::string_view version, int sm) const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// One table that may answer, best first, and the kernels it may lend (empty = all).
struct OrderedSource {
  SourceInfo source;
  std::vector<std::string> kernels;
  bool admits(std::string_view kernel) const;
};

// Tables for a version of a framework, best first: its own; what its reuse notes name; strictly
// earlier versions, nearest first; then other frameworks' newest first, only kernels that a fill
// group shares (not for communication tables, and collective libraries stand alone).
// Origin of the order: AIConfigurator 0.12.0.
Result<std::vector<OrderedSource>> ordered_sources(const Store& store, std::string_view system,
                                                   std::string_view framework,
                                                   std::string_view version, std::string_view op);

// One slice that holds every point of `parts` (same op and keys; kernels may differ): axes are
// united, the earlier part wins. Site axes keep first-seen order, others ascend.
Slice merge(std::span<const Slice> parts);

}  // namespace setpoint::perfdb
