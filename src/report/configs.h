// SPDX-License-Identifier: Apache-2.0
// Configurations as rows: on the screen, and as CSV for a spreadsheet.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/screen.h"
#include "setpoint/estimate.h"
#include "setpoint/workload.h"

namespace setpoint::report {

// One line each, ranked from 1. With one output token per request the columns speak of requests
// and input tokens instead of what does not exist.
std::string config_table(const Screen& screen, std::span<const Estimate> configs,
                         const Workload& workload, int emphasised = -1);

// All of one framework: its column says nothing and may go first.
bool one_framework(std::span<const Estimate> configs);

// Header line and one line each; workers that a mode does not have are empty cells.
std::string configs_csv(std::span<const Estimate> configs);

}  // namespace setpoint::report
