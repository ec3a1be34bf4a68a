// SPDX-License-Identifier: Apache-2.0
// aiconf db import: published tables (wheel, folder) or one's own measurements (CSV).
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/db_flags.h"
#include "perfdb/import.h"
#include "perfdb/locate.h"

namespace setpoint::cli {
namespace {

struct Options {
  std::string database;
  std::vector<std::string> paths;
};

constexpr std::size_t kMostNamed = 20;  // bad lines shown; --json has all

bool is_csv(const std::string& path) { return base::lower(path).ends_with(".csv"); }

base::Json csv_json(const std::string& path, const perfdb::Csv& csv) {
  base::Json rejected = base::Json::array();
  for (const perfdb::RejectedLine& bad : csv.rejected) {
    rejected.push_back({{"line", bad.line}, {"reason", bad.reason}});
  }
  return {{"file", path},
          {"rows_read", csv.rows_read},
          {"rows_kept", csv.rows_kept},
          {"duplicates", csv.duplicates},
          {"rejected", rejected}};
}

std::string csv_text(const std::string& path, const perfdb::Csv& csv) {
  std::string text = fmt::format("{}: {} of {} lines imported, {} duplicates, {} bad\n", path,
                                 base::grouped(csv.rows_kept), base::grouped(csv.rows_read),
                                 base::grouped(csv.duplicates), csv.rejected.size());
  for (std::size_t i = 0; i < csv.rejected.size() && i < kMostNamed; ++i) {
    text += fmt::format("  line {}: {}\n", csv.rejected[i].line, csv.rejected[i].reason);
  }
  if (csv.rejected.size() > kMostNamed) {
    text += fmt::format("  and {} more\n", csv.rejected.size() - kMostNamed);
  }
  return text;
}

// Packages first, in one go: they replace what an earlier import of the same package left.
Result<int> import_all(const Options& options, const Console& console) {
  const std::filesystem::path file = options.database.empty()
                                         ? perfdb::default_database()
                                         : std::filesystem::path(options.database);
  base::Json done = base::Json::array();
  std::string text;
  std::vector<std::string> packages;
  for (const std::string& path : options.paths) {
    if (!is_csv(path)) packages.push_back(path);
  }
  if (!packages.empty()) {
    SP_TRY(const std::string summary, perfdb::import_packages(file, packages));
    done.push_back({{"packages", packages}, {"summary", summary}});
    text += summary;
  }
  for (const std::string& path : options.paths) {
    if (!is_csv(path)) continue;
    SP_TRY(const perfdb::Csv csv, perfdb::import_csv(file, path));
    done.push_back(csv_json(path, csv));
    text += csv_text(path, csv);
  }
  const base::Json all{{"database", file.string()}, {"imported", done}};
  SP_CHECK(console.print(console.json ? base::json_text(all, 2) + "\n" : text));
  return kDone;
}

}  // namespace

Action db_import_command(Flags& flags) {
  auto options = std::make_shared<Options>();
  flags.arguments("path", options->paths,
                  "Wheel or folder of published tables, or .csv of one's own");
  declare_database(flags, options->database);
  return [options](const Console& console) { return import_all(*options, console); };
}

}  // namespace setpoint::cli
