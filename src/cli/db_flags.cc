// SPDX-License-Identifier: Apache-2.0
#include "cli/db_flags.h"

#include "perfdb/locate.h"

namespace setpoint::cli {

void declare_database(Flags& flags, std::string& file) {
  flags.text("--db", file, "FILE",
             "Database; else $SETPOINT_DB, ~/.local/share/setpoint, the binary's");
}

Result<perfdb::Store> open_database(const std::string& file) {
  const auto found =
      file.empty() ? perfdb::find_database() : std::optional<std::filesystem::path>(file);
  if (!found) {
    return Error::bad_input("there is no database yet: `aiconf db import PATH` makes one");
  }
  return perfdb::Store::open(*found);
}

}  // namespace setpoint::cli
