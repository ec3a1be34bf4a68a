// SPDX-License-Identifier: Apache-2.0
#include "base/embedded.h"

#include <algorithm>
#include <span>

namespace setpoint::base {
namespace detail {
extern const EmbeddedFile kEmbeddedFiles[];
extern const unsigned long kEmbeddedFileCount;
}  // namespace detail

namespace {
// Written in path order by cmake/embed.cmake.
std::span<const detail::EmbeddedFile> all() {
  return {detail::kEmbeddedFiles, detail::kEmbeddedFileCount};
}
bool path_less(const detail::EmbeddedFile& file, std::string_view path) { return file.path < path; }
}  // namespace

std::optional<std::string_view> embedded_file(std::string_view path) {
  const auto it = std::lower_bound(all().begin(), all().end(), path, path_less);
  if (it == all().end() || it->path != path) return std::nullopt;
  return std::string_view(it->begin, static_cast<std::size_t>(it->end - it->begin));
}

std::vector<std::string_view> embedded_files(std::string_view prefix) {
  std::vector<std::string_view> paths;
  for (auto it = std::lower_bound(all().begin(), all().end(), prefix, path_less);
       it != all().end() && std::string_view(it->path).starts_with(prefix); ++it) {
    paths.emplace_back(it->path);
  }
  return paths;
}

}  // namespace setpoint::base
