// SPDX-License-Identifier: Apache-2.0
// Compares printed text with the recorded one under expected/. With SETPOINT_RECORD=1 in the
// environment the file is written instead: read the difference before committing it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace setpoint::report_test {

inline void expect_recorded(const std::string& name, const std::string& text) {
  const std::string path = SETPOINT_SOURCE_DIR "/tests/report/expected/" + name + ".txt";
  if (std::getenv("SETPOINT_RECORD") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream in(path);
  std::stringstream recorded;
  recorded << in.rdbuf();
  EXPECT_EQ(text, recorded.str()) << path;
}

// Columns a terminal shows of the widest line: UTF-8 continuation bytes take none.
inline int widest_line(const std::string& text) {
  int widest = 0, columns = 0;
  for (const char c : text) {
    if (c == '\n') columns = -1;
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++columns;
    widest = std::max(widest, columns);
  }
  return widest;
}

inline bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

}  // namespace setpoint::report_test
