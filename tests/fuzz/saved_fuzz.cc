// SPDX-License-Identifier: Apache-2.0
// Any text as RESULT.json of `aiconf generate --from`: one line of error or a question within its
// bounds.
#include <cstdlib>

#include "base/json.h"
#include "generate/deployment.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = base::parse_json(text, "result.json");
  if (!document) return 0;
  for (const auto& choice : {generate::Choice{}, generate::Choice{Mode::disagg, 2}}) {
    const auto saved = generate::read_saved(base::JsonView(*document, "result.json"), choice);
    if (!saved && saved.error().text.find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
