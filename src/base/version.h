// SPDX-License-Identifier: Apache-2.0
// Order of software versions as the serving frameworks write them: 0.24.0, 1.3.0rc20,
// 0.5.6.post2, 0.1.dev19262. At equal numbers: dev < rc < release < post.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace setpoint::base {

struct Version {
  std::vector<std::int64_t> numbers;  // without trailing zeros, so that 1.2 equals 1.2.0
  enum class Stage : std::uint8_t { dev, rc, release, post } stage = Stage::release;
  std::int64_t stage_number = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

// Nothing when the text is not of this form.
std::optional<Version> parse_version(std::string_view text);

}  // namespace setpoint::base
