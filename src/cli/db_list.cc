// SPDX-License-Identifier: Apache-2.0
// aiconf db list: which tables are there; of one system, operator by operator.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/db_flags.h"
#include "cli/list.h"

namespace setpoint::cli {
namespace {

struct Options {
  std::string database, system;
};

constexpr std::array kColumns{ListColumn{"system", "system"}, ListColumn{"framework", "framework"},
                              ListColumn{"version", "version"}, ListColumn{"tables", "tables"},
                              ListColumn{"rows", "rows"}};
constexpr std::array kOpColumns{
    ListColumn{"framework", "framework"},  ListColumn{"version", "version"},
    ListColumn{"op", "operator"},          ListColumn{"rows", "rows"},
    ListColumn{"duplicates", "duplicate"}, ListColumn{"snapshot", "from", "", 1}};

// One row for each version of a framework on a system, of one system also by operator.
base::Json sums(const std::vector<perfdb::SourceInfo>& sources, bool by_op) {
  std::map<Strings, base::Json> all;
  const auto add = [](base::Json& row, const char* name, std::int64_t value) {
    row[name] = row.value(name, std::int64_t{0}) + value;
  };
  for (const perfdb::SourceInfo& source : sources) {
    const perfdb::Provenance& from = source.provenance;
    Strings key{from.system, from.framework, from.version};
    if (by_op) key.insert(key.end(), {source.op, from.snapshot});
    base::Json& row = all[key];
    for (std::size_t i = 0; i < key.size(); ++i) {
      row[std::array{"system", "framework", "version", "op", "snapshot"}[i]] = key[i];
    }
    add(row, "tables", 1);
    add(row, "rows", source.rows_kept);
    add(row, "rows_rejected", source.rows_rejected);
    add(row, "duplicates", source.duplicates);
  }
  base::Json rows = base::Json::array();
  for (const auto& [key, row] : all) rows.push_back(row);
  return rows;
}

Result<int> list(const Options& options, const Console& console) {
  SP_TRY(const perfdb::Store store, open_database(options.database));
  SP_TRY(const Strings systems, store.systems());
  const bool by_op = !options.system.empty();
  if (by_op && std::find(systems.begin(), systems.end(), options.system) == systems.end()) {
    return Error::bad_input(base::unknown_name("system", options.system, systems));
  }
  SP_TRY(const std::vector<perfdb::SourceInfo> sources, store.sources(options.system, ""));
  const base::Json rows = sums(sources, by_op);
  if (console.json) {
    const base::Json document{{"database", store.file().string()}, {"tables", rows}};
    SP_CHECK(console.print(base::json_text(document, 2) + "\n"));
    return kDone;
  }
  std::int64_t measured = 0;
  for (const perfdb::SourceInfo& source : sources) measured += source.rows_kept;
  std::string text = by_op ? list_text(console.screen, rows, kOpColumns)
                           : list_text(console.screen, rows, kColumns);
  text += fmt::format("{}, {}\n", base::count_of(std::int64_t(sources.size()), "table"),
                      base::count_of(measured, "row"));
  SP_CHECK(console.print(text));
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
