// SPDX-License-Identifier: Apache-2.0
// aiconf db verify: is the file whole, and where are its tables thin or contradictory.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "cli/command.h"
#include "cli/db_flags.h"
#include "cli/list.h"
#include "perfdb/verify.h"

namespace setpoint::cli {
namespace {

constexpr std::array kColumns{ListColumn{"op", "operator"},
                              ListColumn{"slices", "slices"},
                              ListColumn{"measured", "measured"},
                              ListColumn{"gaps_percent", "gaps", "%"},
                              ListColumn{"falling_percent", "falling", "%"},
                              ListColumn{"rows_rejected", "bad"},
                              ListColumn{"duplicates", "duplicates"}};

base::Json table_json(const perfdb::TableHealth& table) {
  const perfdb::Provenance& from = table.source.provenance;
  return {{"op", table.source.op},
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
          {"measured", table.measured},
          {"gaps", table.cells - table.measured},
          {"steps", table.steps},
          {"falling_steps", table.falls}};
}

// The tables of each operator as one row: their numbers summed, with shares in percent.
base::Json by_operator(const base::Json& tables) {
  std::map<std::string, base::Json> sums;
  for (const base::Json& table : tables) {
    base::Json& sum = sums.try_emplace(table["op"], base::Json::object()).first->second;
    for (const auto& [name, value] : table.items()) {
      if (value.is_number())
        sum[name] = sum.value(name, std::int64_t{0}) + value.get<std::int64_t>();
    }
    sum["op"] = table["op"];
  }
  base::Json rows = base::Json::array();
  for (auto& [op, sum] : sums) {
    const auto percent = [&sum = sum](const char* part, const char* whole) {
      return 100 * sum[part].get<double>() / std::max(1.0, sum[whole].get<double>());
    };
    sum["gaps_percent"] = percent("gaps", "cells");
    sum["falling_percent"] = percent("falling_steps", "steps");
    rows.push_back(std::move(sum));
  }
  return rows;
}

Result<int> verify(const std::string& database, const Console& console) {
  SP_TRY(const perfdb::Store store, open_database(database));
  SP_TRY(const perfdb::Verified verified, perfdb::verify(store));
  base::Json tables = base::Json::array();
  for (const perfdb::TableHealth& table : verified.tables) tables.push_back(table_json(table));
  std::string text;
  if (console.json) {
    text = base::json_text({{"faults", verified.faults}, {"tables", tables}}, 2) + "\n";
  } else {
    text = list_text(console.screen, by_operator(tables), kColumns);
    text += fmt::format(
        "gaps: cells of the grids that were not measured; falling: steps along the innermost axis\n"
        "on which latency fell by more than {:.0f} %\n",
        100 * perfdb::kFall);
    for (const std::string& fault : verified.faults) text += "fault: " + fault + "\n";
    text += verified.faults.empty() ? "the file is whole\n" : "the file is damaged\n";
  }
  SP_CHECK(console.print(text));
  return verified.faults.empty() ? kDone : kNo;
}

}  // namespace

Action db_verify_command(Flags& flags) {
  auto database = std::make_shared<std::string>();
  declare_database(flags, *database);
  return [database](const Console& console) { return verify(*database, console); };
}

}  // namespace setpoint::cli
