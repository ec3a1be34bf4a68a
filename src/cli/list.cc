// SPDX-License-Identifier: Apache-2.0
#include "cli/list.h"

#include "base/text.h"
#include "report/table.h"
#include "report/text.h"

namespace setpoint::cli {
namespace {

std::string cell(const base::Json& row, const ListColumn& column) {
  const base::Json value =
      row.value(base::Json::json_pointer("/" + std::string(column.member)), base::Json());
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_number() || value == 0) return "-";
  if (value.is_number_integer() && column.scale == 1) {
    return base::grouped(value.get<std::int64_t>());
  }
  return report::number(value.get<double>() * column.scale);
}

}  // namespace

std::string list_text(const report::Screen& screen, const base::Json& rows,
                      std::span<const ListColumn> columns) {
  std::vector<report::Column> shown;
  for (const ListColumn& column : columns) {
    report::Column& out = shown.emplace_back();
    out.head = column.head;
    out.unit = column.unit;
    out.dispensable = column.dispensable;
    for (const base::Json& row : rows) {
      out.left = row.value(base::Json::json_pointer("/" + std::string(column.member)), base::Json())
                     .is_string();
      out.cells.push_back(cell(row, column));
    }
  }
  return report::table(screen, std::move(shown));
}

}  // namespace setpoint::cli
