// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text.h"

namespace setpoint::report {
namespace {

constexpr std::size_t kGap = 2;  // blanks before every column

std::size_t width(const Column& column) {
  std::size_t most = std::max(column.head.size(), column.unit.size());
  for (const std::string& cell : column.cells) most = std::max(most, cell.size());
  return most;
}

std::size_t width(const std::vector<Column>& columns) {
  std::size_t sum = 0;
  for (const Column& column : columns) sum += kGap + width(column);
  return sum;
}

void drop_until_it_fits(std::vector<Column>& columns, std::size_t most) {
  while (width(columns) > most) {
    const auto next = std::max_element(
        columns.begin(), columns.end(),
        [](const Column& a, const Column& b) { return a.dispensable < b.dispensable; });
    if (next == columns.end() || next->dispensable == 0) return;
    columns.erase(next);
  }
}

template <class Pick>
std::string line(const std::vector<Column>& columns, Pick pick) {
  std::string out;
  for (const Column& column : columns) {
    out +=
        std::string(kGap, ' ') + (column.left ? fmt::format("{:<{}}", pick(column), width(column))
                                              : fmt::format("{:>{}}", pick(column), width(column)));
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace

std::string table(const Screen& screen, std::vector<Column> columns, int emphasised) {
  drop_until_it_fits(columns, static_cast<std::size_t>(screen.columns));
  if (columns.empty()) return "";
  const auto head = line(columns, [](const Column& c) { return c.head; });
  const auto unit = line(columns, [](const Column& c) { return c.unit; });
  std::string out = paint(screen, Ink::dim, head) + "\n";
  if (!unit.empty()) out += paint(screen, Ink::dim, unit) + "\n";
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    const auto text = line(columns, [row](const Column& c) { return c.cells[row]; });
    out += paint(screen, static_cast<int>(row) == emphasised ? Ink::bold : Ink::plain, text) + "\n";
  }
  return out;
}

}  // namespace setpoint::report
