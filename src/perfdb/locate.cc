// SPDX-License-Identifier: Apache-2.0
#include "perfdb/locate.h"

#include <cstdlib>
#include <string>

namespace setpoint::perfdb {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// An XDG base folder, or its default below the home folder.
fs::path base_folder(const char* name, const char* below_home) {
  const std::string set = variable(name);
  return (set.empty() ? fs::path(variable("HOME")) / below_home : fs::path(set)) / "setpoint";
}

fs::path users_database() { return base_folder("XDG_DATA_HOME", ".local/share") / "perfdb.db"; }

}  // namespace

std::optional<fs::path> find_database() {
  if (const std::string set = variable("SETPOINT_DB"); !set.empty()) return set;
  std::error_code ec;
  if (fs::exists(users_database(), ec)) return users_database();
  const fs::path binary = fs::read_symlink("/proc/self/exe", ec);
  fs::path beside = binary.parent_path().parent_path() / "share" / "setpoint" / "perfdb.db";
  if (!binary.empty() && fs::exists(beside, ec)) return beside;
  return std::nullopt;
}

fs::path default_database() { return find_database().value_or(users_database()); }

fs::path cache_folder() { return base_folder("XDG_CACHE_HOME", ".cache"); }

}  // namespace setpoint::perfdb
