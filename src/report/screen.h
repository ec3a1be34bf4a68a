// SPDX-License-Identifier: Apache-2.0
// What the place that text is printed on can show.
#pragma once

namespace setpoint::report {

struct Screen {
  int columns = 100;    // no printed line is longer
  bool colour = false;  // escape sequences
  bool utf8 = false;    // else ASCII only
};

}  // namespace setpoint::report
