// SPDX-License-Identifier: Apache-2.0
// What the `db` commands share.
#pragma once

#include <string>

#include "cli/flags.h"
#include "perfdb/store.h"

namespace setpoint::cli {

void declare_database(Flags& flags, std::string& file);  // --db
// The file given, else the one found; an error says how to make one.
Result<perfdb::Store> open_database(const std::string& file);

}  // namespace setpoint::cli
