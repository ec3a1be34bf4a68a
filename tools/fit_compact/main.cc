// SPDX-License-Identifier: Apache-2.0
// fit_compact --db FILE --out perfdb/compact.bin [--report] [--fit-rows N]
// Fits the compact model to the imported tables, writes it, and prints its error over all rows.
// Same database, same program, same bytes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/file.h"
#include "perfdb/compact_blob.h"
#include "report.h"
#include "tables.h"

namespace {

using namespace setpoint;
namespace compact = perfdb::compact;

constexpr std::size_t kMostBytes = 200'000;  // of the whole file

struct Arguments {
  std::string db, out;
  bool report = false;
  setpoint::tools::FitRules rules;
};

Result<void> run(const Arguments& arguments) {
  SP_TRY(const auto store, perfdb::Store::open(arguments.db));
  const tools::FitRules& rules = arguments.rules;
  tools::Report report(rules);
  compact::Blob blob;
  SP_TRY(blob.origin, tools::snapshot(store));
  const auto take = [&](tools::Table&& table) {
    compact::Set set;
    set.system = table.system;
    set.framework = table.framework;
    set.family = table.family;
    set.key = table.key;
    if (!tools::fit(set, table.samples, rules)) return;
    set.error = report.score(set, table);
    compact::round_to_file(set);
    blob.sets.push_back(std::move(set));
  };
  SP_TRY(const tools::Left left, tools::for_each_table(store, take));
  const std::string bytes = compact::encode(blob);
  if (arguments.report) {
    fmt::print("tables: {}; at most {} rows of a table fitted, all scored; error in %\n{}\n",
               blob.origin, rules.most_samples, report.families());
    fmt::print("borrowed sets, every pair of tables:\n{}\n", report.borrowing());
    fmt::print(
        "rows left out: {} of attention kernels an engine does not take by default, {} of "
        "formats without a peak rate on the GPU, {} of unknown formats or loads\n",
        left.other_kernel, left.no_peak, left.unknown);
  }
  if (bytes.size() > kMostBytes) {
    return Error::bad_input(
        fmt::format("{}: {} bytes, at most {} wanted: coarser knots in "
                    "src/perfdb/compact_form.cc",
                    arguments.out, bytes.size(), kMostBytes));
  }
  SP_CHECK(base::write_file_atomically(arguments.out, bytes));
  fmt::print("{}: {} sets, {} bytes\n", arguments.out, blob.sets.size(), bytes.size());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Fits the compact model of the operator tables"};
  app.add_option("--db", arguments.db, "imported database")->required();
  app.add_option("--out", arguments.out, "where to write the model")->required();
  app.add_flag("--report", arguments.report, "print errors by family and of borrowing");
  app.add_option("--fit-rows", arguments.rules.most_samples,
                 "rows of a table that are fitted; the others only score it")
      ->check(CLI::Range(100, 1000000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto done = run(arguments);
  if (done) return 0;
  fmt::print(stderr, "fit_compact: {}\n", done.error().text);
  return static_cast<int>(done.error().code);
}
