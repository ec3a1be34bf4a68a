// SPDX-License-Identifier: Apache-2.0
// aiconf db list: which tables are there; of one system, operator by operator.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/db_flags.h"

namespace setpoint::cli {
namespace {

struct Options {
  std::string database, system;
};

struct Sum {
  std::int64_t tables = 0, rows = 0, rejected = 0, duplicates = 0;
};

using Key = std::vector<std::string>;  // system, framework, version [, op, snapshot]

std::map<Key, Sum> sums(const std::vector<perfdb::SourceInfo>& sources, bool by_op) {
  std::map<Key, Sum> all;
  for (const perfdb::SourceInfo& source : sources) {
    const perfdb::Provenance& from = source.provenance;
    Key key{from.system, from.framework, from.version};
    if (by_op) key.insert(key.end(), {source.op, from.snapshot});
    Sum& sum = all[key];
    ++sum.tables;
    sum.rows += source.rows_kept;
    sum.rejected += source.rows_rejected;
    sum.duplicates += source.duplicates;
  }
  return all;
}

base::Json json(const std::map<Key, Sum>& all) {
  constexpr const char* kNames[] = {"system", "framework", "version", "op", "snapshot"};
  base::Json list = base::Json::array();
  for (const auto& [key, sum] : all) {
    base::Json row;
    for (std::size_t i = 0; i < key.size(); ++i) row[kNames[i]] = key[i];
    row["tables"] = sum.tables;
    row["rows"] = sum.rows;
    row["rows_rejected"] = sum.rejected;
    row["duplicates"] = sum.duplicates;
    list.push_back(row);
  }
  return list;
}

std::string text(const std::map<Key, Sum>& all, bool by_op) {
  std::string lines = by_op ? fmt::format("{:<10}{:<18}{:<26}{:>12}{:>11}  {}\n", "framework",
                                          "version", "operator", "rows", "duplicate", "from")
                            : fmt::format("{:<22}{:<12}{:<18}{:>8}{:>14}\n", "system", "framework",
                                          "version", "tables", "rows");
  Sum total;
  for (const auto& [key, sum] : all) {
    lines += by_op ? fmt::format("{:<10}{:<18}{:<26}{:>12}{:>11}  {}\n", key[1], key[2], key[3],
                                 grouped(sum.rows), grouped(sum.duplicates), key[4])
                   : fmt::format("{:<22}{:<12}{:<18}{:>8}{:>14}\n", key[0], key[1], key[2],
                                 sum.tables, grouped(sum.rows));
    total.tables += sum.tables;
    total.rows += sum.rows;
  }
  return lines + fmt::format("{} tables, {} rows\n", grouped(total.tables), grouped(total.rows));
}

Result<int> list(const Options& options, const Console& console) {
  SP_TRY(const perfdb::Store store, open_database(options.database));
  SP_TRY(const std::vector<std::string> systems, store.systems());
  const bool by_op = !options.system.empty();
  if (by_op && std::find(systems.begin(), systems.end(), options.system) == systems.end()) {
    return Error::bad_input(base::unknown_name("system", options.system, systems));
  }
  SP_TRY(const std::vector<perfdb::SourceInfo> sources, store.sources(options.system, ""));
  const auto all = sums(sources, by_op);
  const base::Json document{{"database", store.file().string()}, {"tables", json(all)}};
  SP_CHECK(console.print(console.json ? document.dump(2) + "\n" : text(all, by_op)));
  return kDone;
}

}  // namespace

Action db_list_command(Flags& flags) {
  auto options = std::make_shared<Options>();
  flags.text("--system", options->system, "SYSTEM", "Only this system, operator by operator");
  declare_database(flags, options->database);
  return [options](const Console& console) { return list(*options, console); };
}

}  // namespace setpoint::cli
