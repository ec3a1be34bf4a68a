// SPDX-License-Identifier: Apache-2.0
// One text for one JSON value, so that equal values have equal digests: UTF-8, keys sorted by their
// bytes, no spaces, each number in its shortest form that reads back as the same number (1.0 is 1,
// -0.0 is 0). Reading the text and writing it again gives the same text.
#pragma once

#include <string>

#include "base/json.h"

namespace setpoint::base {

// Refuses what JSON cannot hold: infinite numbers, NaN, text that is not UTF-8.
Result<std::string> canonical_json(const Json& json);

}  // namespace setpoint::base
