// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

#include <array>
#include <charconv>
#include <utility>

namespace setpoint::base {
namespace {

// Digits at the front of `text`, taken off it; at most nine, so that the number always fits.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length > 9 || value < 0 || text.front() == '-') return std::nullopt;
  text.remove_prefix(length);
  return value;
}

constexpr std::array<std::pair<std::string_view, Version::Stage>, 3> kStages{
    {{"dev", Version::Stage::dev}, {"rc", Version::Stage::rc}, {"post", Version::Stage::post}}};

}  // namespace

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  while (!text.empty()) {
    for (const auto& [word, stage] : kStages) {
      if (!text.starts_with(word)) continue;
      text.remove_prefix(word.size());
      const auto number = take_number(text);
      if (!number || !text.empty() || version.numbers.empty()) return std::nullopt;
      version.stage = stage;
      version.stage_number = *number;
      break;
    }
    if (version.stage != Version::Stage::release) break;
    const auto number = text.empty() ? std::nullopt : take_number(text);
    if (!number) return std::nullopt;
    version.numbers.push_back(*number);
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      if (text.empty()) return std::nullopt;
    }
  }
  if (version.numbers.empty()) return std::nullopt;
  while (version.numbers.size() > 1 && version.numbers.back() == 0) version.numbers.pop_back();
  return version;
}

}  // namespace setpoint::base
