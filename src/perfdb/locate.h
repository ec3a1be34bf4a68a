// SPDX-License-Identifier: Apache-2.0
// Where the database lies. In this order: $SETPOINT_DB; the user's data folder
// ($XDG_DATA_HOME or ~/.local/share, there setpoint/perfdb.db); share/setpoint/perfdb.db in the
// folder above the binary's.
#pragma once

#include <filesystem>
#include <optional>

namespace setpoint::perfdb {

// The first of the three that exists; $SETPOINT_DB counts as existing once it is set, so that a
// wrong one is reported instead of passed over.
std::optional<std::filesystem::path> find_database();

// Where an import without a given file writes: what find_database() finds, else the user's folder.
std::filesystem::path default_database();

// $XDG_CACHE_HOME/setpoint or ~/.cache/setpoint.
std::filesystem::path cache_folder();

}  // namespace setpoint::perfdb
