// SPDX-License-Identifier: Apache-2.0
#include "perfdb/file_header.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace setpoint::perfdb {
namespace {

using Header = std::array<unsigned char, 100>;
constexpr std::string_view kMagic{"SQLite format 3\0", 16};

// Big-endian. Offsets: the SQLite file format, section 1.3.
std::uint32_t word(const Header& header, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | header[at + i];
  return value;
}
std::uint64_t length(const Header& header) {
  const std::uint32_t page = word(header, 16, 2);
  return std::uint64_t{page == 1 ? 65536 : page} * word(header, 28, 4);
}

}  // namespace

Result<void> check_header(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::error_code ec;
  if (std::filesystem::exists(file, ec) && !std::filesystem::is_regular_file(file, ec)) {
    return Error::bad_input(fmt::format("{}: not a file; `aiconf db import PATH` makes one", name));
  }
  Header header{};
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return Error::environment(fmt::format("{}: cannot read: {}; `aiconf db import PATH` makes one",
                                          name, std::strerror(errno)));
  }
  in.read(reinterpret_cast<char*>(header.data()), header.size());
  if (!in && !in.eof()) return Error::environment(fmt::format("{}: cannot read", name));
  if (in.gcount() < static_cast<std::streamsize>(header.size()) ||
      std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0 ||
      word(header, 68, 4) != kApplicationId) {
    return Error::bad_input(
        fmt::format("{}: not a PerfDatabase; `aiconf db import PATH` makes one", name));
  }
  if (const std::uint32_t version = word(header, 60, 4); version != kSchemaVersion) {
    return Error::bad_input(fmt::format(
        "{}: has schema version {}, this program reads version {}; import the tables again", name,
        version, kSchemaVersion));
  }
  if (const auto size = std::filesystem::file_size(file, ec); size != length(header)) {
    return Error::bad_input(fmt::format("{}: truncated: {} of {} bytes; import the tables again",
                                        name, size, length(header)));
  }
  return {};
}

}  // namespace setpoint::perfdb
