// SPDX-License-Identifier: Apache-2.0
// aiconf db show: measured points as rows, in the columns that db import reads.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/db_flags.h"
#include "perfdb/rows.h"

namespace setpoint::cli {
namespace {

struct Options {
  std::string database, op;
  perfdb::RowFilter filter;
  std::vector<std::string> where;
  std::int64_t limit = 40;
  bool csv = false;
};

Result<perfdb::RowFilter> filter_of(const Options& options) {
  perfdb::RowFilter filter = options.filter;
  for (const std::string& condition : options.where) {
    const std::size_t at = condition.find('=');
    if (at == std::string::npos) {
      return Error::bad_input(
          fmt::format("--where \"{}\" is not COLUMN=VALUE, e.g. gemm_dtype=fp8", condition));
    }
    filter.where.emplace_back(condition.substr(0, at), condition.substr(at + 1));
  }
  return filter;
}

std::string csv_text(const perfdb::RowTable& table) {
  std::string text = base::join(table.columns, ",") + "\n";
  for (const auto& row : table.rows) text += base::join(row, ",") + "\n";
  return text;
}

std::string aligned(const perfdb::RowTable& table) {
  std::vector<std::size_t> width(table.columns.size());
  const auto widen = [&width](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) width[i] = std::max(width[i], cells[i].size());
  };
  widen(table.columns);
  for (const auto& row : table.rows) widen(row);
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", cells[i], width[i]);
    }
    text += "\n";
  };
  line(table.columns);
  for (const auto& row : table.rows) line(row);
  return text;
}

base::Json json(const perfdb::RowTable& table) {
  return {{"matching", table.matching}, {"columns", table.columns}, {"rows", table.rows}};
}

// Columns that are the same in every row are said once, above the table: it fits the terminal.
std::string compact(perfdb::RowTable table) {
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
  return fixed + "\n" + aligned(table);
}

Result<int> show(const Options& options, const Console& console) {
  SP_TRY(const perfdb::Store store, open_database(options.database));
  SP_TRY(const perfdb::RowFilter filter, filter_of(options));
  const auto most = options.limit == 0 ? std::numeric_limits<std::size_t>::max()
                                       : static_cast<std::size_t>(options.limit);
  SP_TRY(const perfdb::RowTable table, perfdb::rows_of(store, options.op, filter, most));
  if (console.json) {
    SP_CHECK(console.print(json(table).dump() + "\n"));
  } else if (options.csv) {
    SP_CHECK(console.print(csv_text(table)));
  } else if (!table.rows.empty()) {
    SP_CHECK(console.print(compact(table)));
  }
  if (table.matching > table.rows.size()) {
    console.note(fmt::format("{} of {} rows; --limit 0 shows all", table.rows.size(),
                             grouped(static_cast<std::int64_t>(table.matching))));
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
  flags.integer("--limit", options->limit, {0, std::numeric_limits<std::int32_t>::max()}, "ROWS",
                "Rows to show; 0 = all");
  flags.toggle("--csv", options->csv, "As CSV that `db import` reads");
  declare_database(flags, options->database);
  return [options](const Console& console) { return show(*options, console); };
}

}  // namespace setpoint::cli
