// SPDX-License-Identifier: Apache-2.0
// Versions in the order of PEP 440, as Python frameworks state them:
// 0.16.0.dev3 < 0.16.0rc0 < 0.16.0rc0.post1 < 0.16.0 < 0.16.0+git < 0.16.0.post1 < 0.17.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace setpoint::judge {

struct PythonVersion {
  std::int64_t epoch = 0;
  std::vector<std::int64_t> release;  // without trailing zeros, so that 1.2 equals 1.2.0
  // Order among versions of one release; each part sorts as PEP 440 says.
  int pre_kind = 0;  // -1: only .dev; 0 to 2: a, b, rc; 3: none
  std::int64_t pre = 0, post = -1, dev = kNoDev;
  std::string local;  // compared as text, which is enough to tell a build from its release
  static constexpr std::int64_t kNoDev = INT64_MAX;
  friend auto operator<=>(const PythonVersion&, const PythonVersion&) = default;

  bool is_plain_release() const { return pre_kind == 3 && dev == kNoDev && local.empty(); }
};

// Nothing when the text is not of this form.
std::optional<PythonVersion> parse_python_version(std::string_view text);
// Is the version in ">=0.16,<0.21"? Nothing when either text is not of its form.
std::optional<bool> in_version_range(std::string_view version, std::string_view range);

}  // namespace setpoint::judge
