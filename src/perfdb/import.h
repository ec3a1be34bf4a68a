// SPDX-License-Identifier: Apache-2.0
// Tables into the database. Either way the new file is written beside the old one and renamed at
// the end: an interrupt leaves the old one whole, and whoever has it open keeps reading it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "perfdb/csv.h"
#include "setpoint/result.h"

namespace setpoint::perfdb {

// Adds the measurements of a CSV file as sources of snapshot "csv <file name>"; those of an earlier
// import of a file so called are replaced. Makes the database when there is none. An error when no
// line was good; bad lines among good ones are in the result.
Result<Csv> import_csv(const std::filesystem::path& database, const std::filesystem::path& csv);

// Runs the converter (perfdb/convert.py) on packages: wheels, unpacked folders, folders of systems.
// $SETPOINT_PYTHON names a Python that has pyarrow, numpy and PyYAML; without it an environment is
// made, once, in the cache folder. Its progress goes to standard error; the result is its summary.
Result<std::string> import_packages(const std::filesystem::path& database,
                                    const std::vector<std::string>& paths);

}  // namespace setpoint::perfdb
