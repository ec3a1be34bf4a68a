// SPDX-License-Identifier: Apache-2.0
#include "cli/request_lines.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "cli/command.h"

namespace setpoint::cli {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

// The next line without its end; of one that is too long the rest is read past and dropped, so that
// it is refused as broken JSON. False at the end of the input.
bool next_line(std::istream& in, std::string& line) {
  line.clear();
  std::streambuf& bytes = *in.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  int c = bytes.sbumpc();
  if (c == kEnd) return false;
  for (; c != kEnd && c != '\n'; c = bytes.sbumpc()) {
    if (line.size() <= kLongestLine) line += static_cast<char>(c);
  }
  return true;
}

Result<base::Json> parsed(const std::string& line, const std::string& where) {
  if (line.size() <= kLongestLine) return base::parse_json(line, where);
  return Error::bad_input(fmt::format("{}: longer than {} bytes", where, kLongestLine));
}

Result<base::Json> answered(const base::Json& id, const base::JsonView& line,
                            const AnswerLine& answer) {
  if (id.is_null() || id.is_string() || id.is_number()) return answer(line);
  return line.error("id: expected text or a number");
}

}  // namespace

Result<int> answer_lines(const std::string& path, const Console& console,
                         const AnswerLine& answer) {
  std::ifstream file;
  if (path != "-") {
    std::error_code ec;
    if (std::filesystem::is_directory(path, ec)) {
      return Error::bad_input(fmt::format("--requests: {}: is a folder, not a file", path));
    }
    file.open(path, std::ios::binary);
    if (!file) return Error::environment(fmt::format("--requests: {}: cannot be read", path));
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::int64_t lines = 0, bad = 0;
  std::optional<Error> first;
  for (std::string line; next_line(in, line);) {
    const std::string where = fmt::format("{}:{}", path == "-" ? "line" : path, ++lines);
    const auto request = parsed(line, where);
    base::Json out{{"id", nullptr}};
    if (request && request->is_object()) out["id"] = request->value("id", base::Json());
    const Result<base::Json> got =
        request ? answered(out["id"], {*request, where}, answer) : request.error();
    if (got) {
      out.update(*got);
    } else {
      out["error"] = got.error().text;
      if (got.error().code != ErrorCode::no && bad++ == 0) first = got.error();
    }
    SP_CHECK(console.print(base::json_text(out) + "\n"));
  }
  if (in.bad()) return Error::environment(fmt::format("--requests: {}: reading failed", path));
  console.detail(fmt::format("{} lines answered, {} of them bad", lines, bad));
  if (bad == 0 || bad < lines) return kDone;
  return Error::bad_input(
      fmt::format("none of {} lines could be answered; the first: {}", lines, first->text));
}

}  // namespace setpoint::cli
