// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of final values: one line of error, or values whose canonical form and
// effective hash exist and do not differ from themselves.
#include <cstdlib>

#include "recipe/canonical.h"
#include "recipe/diff.h"
#include "recipe/read.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto values = recipe::parse_final_values(text, "input");
  if (!values) {
    if (values.error().text.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (!recipe::diff(*values, *values).empty()) std::abort();
  if (!recipe::effective_hash(*values, [](const std::string&) { return false; }).ok()) std::abort();
  return 0;
}
