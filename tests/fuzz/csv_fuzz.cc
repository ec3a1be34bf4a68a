// SPDX-License-Identifier: Apache-2.0
// Any text as a CSV of measurements: an error line, or rows counted and slices without bad values.
#include <cmath>
#include <cstdlib>

#include "perfdb/csv.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto csv = perfdb::parse_csv(text);
  if (!csv && csv.error().text.empty()) std::abort();
  return 0;
}
