// SPDX-License-Identifier: Apache-2.0
// All files of a plan appear in a folder, or none and the folder is as it was.
#pragma once

#include <filesystem>
#include <vector>

#include "setpoint/generate.h"
#include "setpoint/result.h"

namespace setpoint::generate {

// Whether `files` may be written there: exit 2 names the first that exists, unless `force`; what is
// no file is never replaced. A missing folder is fine.
Result<void> may_write(const std::filesystem::path& folder, const std::vector<File>& files,
                       bool force);
// Makes the folder. Files of other names that are there stay.
Result<void> write_files(const std::filesystem::path& folder, const std::vector<File>& files,
                         bool force);

}  // namespace setpoint::generate
