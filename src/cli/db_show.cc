// SPDX-License-Identifier: Apache-2.0
// aiconf db show: measured points as rows, in the columns that db import reads.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/db_flags.h"
#include "perfdb/rows.h"
#include "report/table.h"

namespace setpoint::cli {
namespace {

struct Options {
  std::string database, op;
  perfdb::RowFilter filter;
  std::vector<std::string> where;
  std::int64_t limit = 40;
  bool csv = false;
};

constexpr std::array kLimitFields{
    base::Field<Options>{"limit", &Options::limit, 0, 2e9, "ROWS", "Rows to show; 0 = all"}};

Result<perfdb::RowFilter> filter_of(const Options& options) {
  perfdb::RowFilter filter = options.filter;
  for (const std::string& condition : options.where) {
    const auto [column, value] = base::split_pair(condition);
    if (!value) {
      return Error::bad_input(
          fmt::format("--where \"{}\" is not COLUMN=VALUE, e.g. gemm_dtype=fp8", condition));
    }
    filter.where.emplace_back(column, *value);
  }
  return filter;
}

std::string csv_text(const perfdb::RowTable& table) {
  std::string text = base::join(table.columns, ",") + "\n";
  for (const auto& row : table.rows) text += base::join(row, ",") + "\n";
  return text;
}

base::Json json(const perfdb::RowTable& table) {
  return {{"matching", table.matching}, {"columns", table.columns}, {"rows", table.rows}};
}

// Columns that are the same in every row are said once, above the table: it fits the terminal.
std::string compact(const report::Screen& screen, perfdb::RowTable table) {
  std::string fixed;
  for (std::size_t i = table.columns.size() - 1; i-- > 0;) {
    const std::string value = table.rows.front()[i];
    if (std::any_of(table.rows.begin(), table.rows.end(),
                    [&](const auto& row) { return row[i] != value; })) {
      continue;
    }
    fixed = fmt::format("{}={} ", table.columns[i], value.empty() ? "-" : value) + fixed;
    const auto at = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
  std::vector<report::Column> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    report::Column& column = columns.emplace_back();
    column.head = table.columns[i];
    for (const auto& row : table.rows) column.cells.push_back(row[i]);
  }
  return fixed + "\n" + report::table(screen, std::move(columns));
}

Result<int> show(const Options& options, const Console& console) {
  SP_TRY(const perfdb::Store store, open_database(options.database));
  SP_TRY(const perfdb::RowFilter filter, filter_of(options));
  const auto most = options.limit == 0 ? std::numeric_limits<std::size_t>::max()
                                       : static_cast<std::size_t>(options.limit);
  SP_TRY(const perfdb::RowTable table, perfdb::rows_of(store, options.op, filter, most));
  if (console.json) {
    SP_CHECK(console.print(base::json_text(json(table)) + "\n"));
  } else if (options.csv) {
    SP_CHECK(console.print(csv_text(table)));
  } else if (!table.rows.empty()) {
    SP_CHECK(console.print(compact(console.screen, table)));
  }
  if (table.matching > table.rows.size()) {
    console.note(fmt::format("{} of {} rows; --limit 0 shows all", table.rows.size(),
                             base::grouped(static_cast<std::int64_t>(table.matching))));
  }
  if (table.matching == 0) console.note("no measured row matches");
  return table.matching == 0 ? kNo : kDone;
}

}  // namespace

Action db_show_command(Flags& flags) {
  auto options = std::make_shared<Options>();
  flags.argument("operator", options->op, "Operator family, e.g. gemm");
  flags.text("--system", options->filter.system, "SYSTEM", "GPU system");
  flags.require("--system");
  flags.text("--framework", options->filter.framework, "NAME", "Only this framework");
  flags.text("--version", options->filter.version, "VERSION", "Only this version of it");
  flags.texts("--where", options->where, "COLUMN=VALUE", "Only rows with this value");
  flags.numbers(kLimitFields, *options);
  flags.toggle("--csv", options->csv, "As CSV that `db import` reads");
  declare_database(flags, options->database);
  return [options](const Console& console) { return show(*options, console); };
}

}  // namespace setpoint::cli
