// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. A write either replaces the file completely or leaves the old one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "setpoint/result.h"

namespace setpoint::base {

// Fails on a folder, an unreadable file, or one larger than `most_bytes`.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t most_bytes = std::size_t{256} << 20);
// Through a temporary file in the same folder and rename().
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace setpoint::base
