// SPDX-License-Identifier: Apache-2.0
#include "cli/request_lines.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <istream>

#include "base/json.h"
#include "cli/command.h"
#include "report/json.h"
#include "search/estimate.h"

namespace setpoint::cli {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

// The id of a line that may be wrong in any other way.
std::string id_of(const std::string& line) {
  const auto json = base::parse_json(line, "");
  if (!json || !json->is_object()) return "";
  const auto id = json->find("id");
  if (id == json->end()) return "";
  return id->is_string() ? id->get<std::string>() : id->dump();
}

struct Answered {
  std::string text;
  bool failed = false;
};

Answered answer_line(search::Estimator& estimator, const std::string& line,
                     const std::string& where) {
  if (line.size() > kLongestLine) {
    return {
        report::request_error_json("", fmt::format("{}: longer than {} bytes", where, kLongestLine))
            .dump(),
        true};
  }
  const auto request = search::parse_request(line, where);
  if (!request) return {report::request_error_json(id_of(line), request.error().text).dump(), true};
  const auto answer = estimator.answer(*request);
  if (!answer) return {report::request_error_json(request->id, answer.error().text).dump(), true};
  return {report::request_answer_json(*request, *answer).dump(), !answer->estimate};
}

}  // namespace

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

Result<int> answer_lines(const std::string& path, const Console& console) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return Error::environment(fmt::format("--requests: {}: cannot be read", path));
  }
  std::istream& in = path == "-" ? std::cin : file;
  search::Estimator estimator;
  std::int64_t lines = 0, failed = 0;
  for (std::string line; next_line(in, line);) {
    const Answered answer =
        answer_line(estimator, line, fmt::format("{}:{}", path == "-" ? "line" : path, ++lines));
    failed += answer.failed ? 1 : 0;
    SP_CHECK(console.print(answer.text + "\n"));
  }
  if (in.bad()) return Error::environment(fmt::format("--requests: {}: reading failed", path));
  console.detail(fmt::format("{} lines answered, {} of them with an error", lines, failed));
  return kDone;
}

}  // namespace setpoint::cli
