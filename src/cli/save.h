// SPDX-License-Identifier: Apache-2.0
// `search --save DIR`: the result and the launch files of each configuration that it shows.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "setpoint/generate.h"
#include "setpoint/search.h"

namespace setpoint::cli {

inline constexpr std::string_view kResultFile = "result.json";

// result.json with the text `json`, and below <mode>-<rank>/ what `generate --from` makes of that
// row: for plain processes where they can run it, else for the first target that can. Rows that
// cannot be launched are noted and left out.
Result<std::vector<generate::File>> saved_files(const std::string& json,
                                                const search::SearchResult& result,
                                                const Console& console);

}  // namespace setpoint::cli
