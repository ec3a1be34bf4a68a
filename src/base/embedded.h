// SPDX-License-Identifier: Apache-2.0
// Data files that travel inside the binary (perfdb/**/*.json and the like), by their path in the
// repository, e.g. "perfdb/systems/h200_sxm.json".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace setpoint::base {

std::optional<std::string_view> embedded_file(std::string_view path);
// Paths that start with `prefix`, sorted.
std::vector<std::string_view> embedded_files(std::string_view prefix);

namespace detail {
struct EmbeddedFile {
  const char* path;
  const char* begin;
  const char* end;
};
}  // namespace detail

}  // namespace setpoint::base
