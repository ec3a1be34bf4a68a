// SPDX-License-Identifier: Apache-2.0
// Is this a whole PerfDatabase of our schema? Answered from the first 100 bytes (the SQLite header
// names application, schema version and length), so that a wrong file costs one clear line.
#pragma once

#include <cstdint>
#include <filesystem>

#include "setpoint/result.h"

namespace setpoint::perfdb {

inline constexpr std::uint32_t kApplicationId = 0x53506462;  // "SPdb", as in perfdb/schema.sql
inline constexpr std::uint32_t kSchemaVersion = 1;

Result<void> check_header(const std::filesystem::path& file);

}  // namespace setpoint::perfdb
