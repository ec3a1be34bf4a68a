// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fstream>

#include "base/file.h"
#include "base/process.h"
#include "profile/trace.h"

namespace setpoint::profile {
namespace {

constexpr std::string_view kSqlite = "SQLite format 3";
constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::size_t kMostBytes = std::size_t{4} << 30;  // of one trace, unpacked

Result<std::string> unpacked(const std::filesystem::path& file) {
  SP_TRY(base::Ran gzip, base::run_program({"gzip", "-dc", "--", file.string()}, kMostBytes));
  if (gzip.exit_code != 0) return Error::bad_input("gzip cannot unpack it, or it is over 4 GiB");
  return std::move(gzip.out);
}

Result<Trace> read_any(const std::filesystem::path& file, const std::string& marker) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error::environment("cannot be read");
  std::array<char, 16> head{};
  in.read(head.data(), head.size());
  const std::string_view begin(head.data(), static_cast<std::size_t>(in.gcount()));
  if (begin.starts_with(kSqlite)) return read_nsys(file, marker);
  SP_TRY(const std::string text,
         begin.starts_with(kGzip) ? unpacked(file) : base::read_file(file, kMostBytes));
  return read_kineto(text, marker);
}

}  // namespace

Result<Trace> read_trace(const std::filesystem::path& file, const std::string& step_marker) {
  auto trace = read_any(file, step_marker);
  if (!trace) return trace.error().at(file.string());
  trace->file = file;
  return trace;
}

}  // namespace setpoint::profile
