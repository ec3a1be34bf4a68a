// SPDX-License-Identifier: Apache-2.0
// The imported tables as samples of the compact model: one Table per coefficient set, with every
// measured point of the current version of one system and framework.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fit.h"
#include "perfdb/store.h"
#include "setpoint/result.h"

namespace setpoint::tools {

struct Table {
  std::string system, framework, version;
  std::size_t family = 0;  // index into perfdb::compact::forms()
  perfdb::compact::Key key;
  std::vector<Sample> samples;
};

// Rows of the chosen tables that give no sample, by reason.
struct Left {
  std::int64_t other_kernel = 0;  // attention kernels that are not the one an engine takes
  std::int64_t no_peak = 0;       // number format without a peak rate on that GPU
  std::int64_t unknown = 0;       // a format or expert distribution this program does not know
};

// Calls take(table) for each table, in the order systems, families, frameworks, keys. Only tables
// of `package` rows (never someone's own measurements) of the framework's current version, or, if
// that has none, of its nearest earlier one.
Result<Left> for_each_table(const perfdb::Store& store, const std::function<void(Table&&)>& take);

// Snapshot of the first source, e.g. "aiconfigurator-core 0.12.0".
Result<std::string> snapshot(const perfdb::Store& store);

}  // namespace setpoint::tools
