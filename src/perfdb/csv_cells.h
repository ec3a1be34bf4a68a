// SPDX-License-Identifier: Apache-2.0
// Lines and cells of CSV text: commas, "quoted, cells" with "" for a quote, LF or CRLF. A quoted
// cell ends with its line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace setpoint::perfdb {

class CsvLines {
 public:
  explicit CsvLines(std::string_view text);  // a UTF-8 byte order mark is skipped
  // The cells of the next line that is neither empty nor a # comment, blanks around them cut off.
  std::optional<std::vector<std::string>> next();
  std::int64_t line() const { return line_; }  // of the last next(), from 1

 private:
  std::string_view rest_;
  std::int64_t line_ = 0;
};

}  // namespace setpoint::perfdb
