// SPDX-License-Identifier: Apache-2.0
// Another program, run to its end. No shell is involved: arguments are passed as they are.
#pragma once

#include <string>
#include <vector>

#include "setpoint/result.h"

namespace setpoint::base {

struct Ran {
  int exit_code = 0;  // 128 + signal when a signal ended it
  std::string out;    // its standard output
};

// Waits for it; its standard error is ours. While it runs, Ctrl-C reaches it and not us, so that it
// can clean up. An error only when it cannot be started.
Result<Ran> run_program(const std::vector<std::string>& arguments);

}  // namespace setpoint::base
