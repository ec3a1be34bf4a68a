// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace setpoint::base {

Result<std::string> read_file(const std::filesystem::path& path, std::size_t most_bytes) {
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec)) {
    return Error::bad_input(fmt::format("{}: is a folder, not a file", path.string()));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Error::environment(
        fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
  }
  std::string content;
  constexpr std::size_t kChunk = 1 << 16;
  while (in) {
    const std::size_t size = content.size();
    content.resize(size + kChunk);
    in.read(content.data() + size, static_cast<std::streamsize>(kChunk));
    content.resize(size + static_cast<std::size_t>(in.gcount()));
    if (content.size() > most_bytes) {
      return Error::bad_input(fmt::format("{}: larger than {} bytes, the most accepted here",
                                          path.string(), most_bytes));
    }
  }
  if (in.bad()) return Error::environment(fmt::format("{}: read failed", path.string()));
  return content;
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  // A link, a device or a pipe is written through: renaming over it would replace the thing itself.
  std::error_code ec;
  const auto status = std::filesystem::symlink_status(path, ec);
  const bool through = std::filesystem::is_symlink(status) || std::filesystem::is_other(status);
  const std::filesystem::path temporary =
      through ? path : std::filesystem::path(path.string() + fmt::format(".tmp{}", ::getpid()));
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.flush();
    if (!out) {
      const std::string why = std::strerror(errno);
      std::error_code ignored;
      if (!through) std::filesystem::remove(temporary, ignored);
      return Error::environment(fmt::format("{}: cannot write: {}", path.string(), why));
    }
  }
  if (through) return {};
  std::filesystem::rename(temporary, path, ec);
  if (ec) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return Error::environment(fmt::format("{}: cannot replace: {}", path.string(), ec.message()));
  }
  return {};
}

}  // namespace setpoint::base
