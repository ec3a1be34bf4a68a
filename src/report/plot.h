// SPDX-License-Identifier: Apache-2.0
// A scatter plot in the terminal: one mark a series, axes with round numbers. Without colour the
// marks alone tell the series apart; without UTF-8 it is plain ASCII.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/screen.h"
#include "report/text.h"

namespace setpoint::report {

struct Series {
  std::string name;
  char ascii = '*';
  std::string utf8 = "*";  // one column wide
  Ink ink = Ink::plain;
  std::vector<std::pair<double, double>> points;  // x, y; not finite ones are left out
};

struct Plot {
  std::string x_label, y_label;
  std::vector<Series> series;    // later ones are drawn over earlier ones
  std::optional<double> x_line;  // a vertical line, e.g. a bound
  std::string x_line_label;
  int rows = 14;
};

// "" when there is no point to draw.
std::string draw(const Screen& screen, const Plot& plot);

}  // namespace setpoint::report
