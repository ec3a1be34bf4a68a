// SPDX-License-Identifier: Apache-2.0
// Values as Python prints them: None, True, 1e-05, 'text', [1, 2], (1, 2), {'a': 1}. What is none
// of these is text, without the memory address of an object, which differs from run to run.
#pragma once

#include <string_view>

#include "base/json.h"

namespace setpoint::recipe {

base::Json python_value(std::string_view text);

}  // namespace setpoint::recipe
