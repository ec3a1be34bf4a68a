// SPDX-License-Identifier: Apache-2.0
// Pieces of printed text: numbers with sensible digits, wrapped fields, colour. Everything here is
// ASCII; only the plot draws with other characters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/screen.h"
#include "setpoint/estimate.h"
#include "setpoint/units.h"

namespace setpoint::report {

enum class Ink : std::uint8_t { plain, bold, dim, green, yellow, red, cyan, magenta };
std::string paint(const Screen& screen, Ink ink, std::string_view text);

// Fewer decimals as the number grows: 2.31, 29.2, 823.1, 12,345.
std::string number(double value);
// A column of numbers with the decimals that suit its largest. NaN prints as "n/a".
std::vector<std::string> numbers(std::span<const double> values);
std::string grouped(std::int64_t value);  // 18,234
std::string milliseconds(Ms value);       // "812 ms", "30.0 s" from 10 s on

// "82 % measured, 18 % roofline": sources with at least half a percent, largest first.
std::string evidence(const std::array<double, 6>& shares);
// The share that lies on or between measured points, in percent.
double percent_in_tables(const std::array<double, 6>& shares);

// "gemm fp8, kv bfloat16"; the others where they exist and are not the plain 16-bit ones.
std::string formats(const model::Precision& formats, bool moe);

// `name` in a narrow first column, `text` beside it, wrapped to the screen.
std::string field(const Screen& screen, std::string_view name, std::string_view text);
// Words filled to lines of at most `columns`, each after `indent` spaces.
std::string wrapped(std::string_view text, int columns, int indent);

}  // namespace setpoint::report
