// SPDX-License-Identifier: Apache-2.0
#include "base/fields.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace setpoint::base {

bool Range::holds(double value) const {
  return value >= least && value <= most && (!whole || value == std::floor(value));
}

std::string Range::expected() const {
  if (!whole) return fmt::format("expected a number from {} to {}", least, most);
  return fmt::format("expected a whole number from {:.0f} to {:.0f}", least, most);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongestShown = 60;
  std::string out(text.substr(0, kLongestShown));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return fmt::format("\"{}\"{}", out, text.size() > kLongestShown ? "..." : "");
}

Result<double> parse_number(const std::string& text, const Range& range) {
  const std::string digits = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc() && end == digits.data() + digits.size() && range.holds(value)) {
    return value;
  }
  return Error::bad_input(fmt::format("{}, found {}", range.expected(), shown(text)));
}

}  // namespace setpoint::base
