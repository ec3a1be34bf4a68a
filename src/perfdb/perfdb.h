// SPDX-License-Identifier: Apache-2.0
// The PerfDatabase: any operator, at any point, gets a time and its source. Measured slices of one
// GPU, framework and version are loaded when an operator first needs them; names are resolved in
// bind(), after which only indices and flat arrays are touched.
// One chain for every family: exact -> interpolated -> extrapolated along the roofline's slope ->
// borrowed from a sister -> compact model -> roofline x the family's efficiency (docs/design.md).
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/system.h"
#include "ops/op.h"
#include "perfdb/answer.h"
#include "setpoint/result.h"

namespace setpoint::perfdb {

enum class DataMode : std::uint8_t { measured, hybrid, roofline };
inline constexpr std::array<std::string_view, 3> kDataModeNames{"measured", "hybrid", "roofline"};

// What to open. `version` empty = the framework's current version for this system; a version
// without tables resolves to the nearest that has them, which the caller must say.
struct Request {
  std::filesystem::path
      file;  // empty: search $SETPOINT_DB, the user's data folder, the binary's own
  hw::System system;
  std::string framework;
  std::string version;
  DataMode mode = DataMode::hybrid;
};

// An operator with its tables found. Immutable, cheap to copy, safe from any thread.
class BoundOp {
 public:
  class Pricer;  // one implementation per kind of table, private to the module
  explicit BoundOp(std::shared_ptr<const Pricer> pricer) : pricer_(std::move(pricer)) {}
  // Total: never fails, never allocates. Points below 1 token or batch are taken as 1.
  Answer at(const ops::Point& point) const;

 private:
  std::shared_ptr<const Pricer> pricer_;
};

class PerfDb {
 public:
  static Result<PerfDb> open(const Request& request);
  PerfDb(PerfDb&&) noexcept;
  PerfDb& operator=(PerfDb&&) noexcept;
  ~PerfDb();

  // In mode `measured` an operator without rows is an error naming the missing table and key; in
  // `hybrid` only a number format the GPU cannot run is one. Safe from several threads.
  Result<BoundOp> bind(const ops::Op& op) const;

  const hw::System& system() const;
  const std::string& framework() const;
  const std::string& version() const;               // as resolved
  const std::optional<std::string>& asked() const;  // a requested version that had no tables
  bool has_tables() const;                          // of this framework on this system
  bool borrows() const;  // without them: other tables are there; else embedded model only
  DataMode mode() const;

 private:
  struct Impl;
  explicit PerfDb(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace setpoint::perfdb
