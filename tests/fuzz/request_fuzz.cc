// SPDX-License-Identifier: Apache-2.0
// Any text as one line of `estimate --requests`: an error line or a request within its bounds.
#include <cstdlib>

#include "search/estimate.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto request = search::parse_request(text, "line 1");
  if (!request && request.error().text.find('\n') != std::string::npos) std::abort();
  return 0;
}
