// SPDX-License-Identifier: Apache-2.0
// aiconf db verify: is the file whole, and where are its tables thin or contradictory.
#include <fmt/format.h>

#include <map>

#include "base/json.h"
#include "cli/command.h"
#include "cli/db_flags.h"
#include "perfdb/verify.h"

namespace setpoint::cli {
namespace {

struct Options {
  std::string database;
};

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

base::Json json(const perfdb::Verified& verified) {
  base::Json tables = base::Json::array();
  for (const perfdb::TableHealth& table : verified.tables) {
    const perfdb::Provenance& from = table.source.provenance;
    tables.push_back({{"op", table.source.op},
                      {"system", from.system},
                      {"framework", from.framework},
                      {"version", from.version},
                      {"snapshot", from.snapshot},
                      {"file", from.file},
                      {"rows_read", table.source.rows_read},
                      {"rows_kept", table.source.rows_kept},
                      {"rows_filtered", table.source.rows_filtered},
                      {"rows_rejected", table.source.rows_rejected},
                      {"duplicates", table.source.duplicates},
                      {"slices", table.slices},
                      {"cells", table.cells},
                      {"gaps", table.cells - table.measured},
                      {"steps", table.steps},
                      {"falling_steps", table.falls}});
  }
  return {{"faults", verified.faults}, {"tables", tables}};
}

std::string text(const perfdb::Verified& verified) {
  std::map<std::string, perfdb::TableHealth> by_op;
  for (const perfdb::TableHealth& table : verified.tables) {
    perfdb::TableHealth& sum = by_op[table.source.op];
    sum.source.rows_rejected += table.source.rows_rejected;
    sum.source.duplicates += table.source.duplicates;
    sum.slices += table.slices;
    sum.cells += table.cells;
    sum.measured += table.measured;
    sum.steps += table.steps;
    sum.falls += table.falls;
  }
  std::string lines = fmt::format("{:<26}{:>9}{:>13}{:>9}{:>11}{:>9}{:>12}\n", "operator", "slices",
                                  "measured", "gaps %", "falling %", "bad", "duplicates");
  for (const auto& [op, sum] : by_op) {
    lines += fmt::format("{:<26}{:>9}{:>13}{:>9.1f}{:>11.1f}{:>9}{:>12}\n", op, grouped(sum.slices),
                         grouped(sum.measured), percent(sum.cells - sum.measured, sum.cells),
                         percent(sum.falls, sum.steps), grouped(sum.source.rows_rejected),
                         grouped(sum.source.duplicates));
  }
  lines += fmt::format(
      "gaps: cells of the grids that were not measured; falling: steps along the innermost axis\n"
      "on which latency fell by more than {:.0f} %\n",
      100 * perfdb::kFall);
  for (const std::string& fault : verified.faults) lines += "fault: " + fault + "\n";
  return lines + (verified.faults.empty() ? "the file is whole\n" : "the file is damaged\n");
}

Result<int> verify(const Options& options, const Console& console) {
  SP_TRY(const perfdb::Store store, open_database(options.database));
  SP_TRY(const perfdb::Verified verified, perfdb::verify(store));
  SP_CHECK(console.print(console.json ? json(verified).dump(2) + "\n" : text(verified)));
  return verified.faults.empty() ? kDone : kNo;
}

}  // namespace

Action db_verify_command(Flags& flags) {
  auto options = std::make_shared<Options>();
  declare_database(flags, options->database);
  return [options](const Console& console) { return verify(*options, console); };
}

}  // namespace setpoint::cli
