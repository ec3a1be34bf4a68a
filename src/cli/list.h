// SPDX-License-Identifier: Apache-2.0
// Lists: an array of JSON objects, printed as it is with --json, else as a table of some members.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "report/screen.h"

namespace setpoint::cli {

struct ListColumn {
  std::string_view member;  // "name", "quant/gemm"
  std::string_view head, unit = "";
  int dispensable = 0;  // on a narrow screen; the highest goes first
  double scale = 1;     // of a number
};

// Whole numbers are grouped, others keep the digits that matter; what is missing or 0 is "-".
std::string list_text(const report::Screen& screen, const base::Json& rows,
                      std::span<const ListColumn> columns);

}  // namespace setpoint::cli
