// SPDX-License-Identifier: Apache-2.0
// The terminal: results go to stdout, everything else to stderr, at any verbosity. What the
// terminal can show (width, colour, UTF-8) is found once at start and handed to whoever prints.
#pragma once

#include <string_view>

#include "report/screen.h"
#include "setpoint/result.h"

namespace setpoint::cli {

struct Console {
  bool json = false;   // one JSON document on stdout and nothing else there
  bool quiet = false;  // no notes
  int verbose = 0;
  report::Screen screen;
  bool progress = false;  // stderr is a terminal and not quiet: bars may be drawn there

  // Results. Fails when stdout cannot take them (full disk, closed pipe).
  Result<void> print(std::string_view text) const;
  void note(std::string_view text) const;    // stderr, not when quiet
  void detail(std::string_view text) const;  // stderr, with -v
};

// Reads the environment (NO_COLOR, TERM, COLUMNS, LC_ALL, LC_CTYPE, LANG) and the terminal.
Console find_console();

}  // namespace setpoint::cli
