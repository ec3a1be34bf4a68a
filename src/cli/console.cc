// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/text.h"

namespace setpoint::cli {
namespace {

constexpr int kNarrowest = 80, kWidest = 100;  // columns that tables are laid out for

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr ? "" : value;
}

// The first of these that is set decides, as in setlocale(3).
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = base::lower(variable(name));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

int terminal_columns(bool terminal) {
  winsize size{};
  if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const int columns = std::atoi(variable("COLUMNS").c_str());
  return columns > 0 ? columns : kWidest;
}

void to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

}  // namespace

Console find_console() {
  Console console;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  console.screen.columns = std::clamp(terminal_columns(terminal), kNarrowest, kWidest);
  console.screen.colour = terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  console.screen.utf8 = locale_is_utf8();
  console.progress = isatty(STDERR_FILENO) == 1;
  return console;
}

Result<void> Console::print(std::string_view text) const {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    return Error::environment("standard output: cannot be written (disk full or closed)");
  }
  return {};
}

void Console::note(std::string_view text) const {
  if (!quiet) to_stderr(text);
}

void Console::detail(std::string_view text) const {
  if (verbose > 0 && !quiet) to_stderr(text);
}

}  // namespace setpoint::cli
