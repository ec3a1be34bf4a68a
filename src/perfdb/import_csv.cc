// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <span>

#include "base/embedded.h"
#include "base/file.h"
#include "base/sqlite.h"
#include "base/text.h"
#include "perfdb/file_header.h"
#include "perfdb/grid_blob.h"
#include "perfdb/import.h"
#include "perfdb/ops_table.h"

namespace setpoint::perfdb {
namespace {

namespace fs = std::filesystem;
using base::Database;
using base::Statement;

constexpr std::size_t kMostNamed = 100;  // bad lines kept by number; all are counted

// Removes the unfinished file unless it was renamed into place.
struct Temporary {
  fs::path path;
  ~Temporary() {
    std::error_code ignored;
    fs::remove(path, ignored);
    fs::remove(path.string() + "-journal", ignored);
  }
};

std::string keys_text(const Slice& slice) {
  std::vector<std::string> values;
  for (const auto& [name, value] : slice.keys) values.push_back(value);
  return base::join(values, "|");
}

std::string axes_text(const OpShape& shape) {
  std::vector<std::string> axes;
  for (const auto& columns : shape.axes) axes.push_back(base::join(columns, ","));
  return base::join(axes, "|");
}

Result<void> create(const Database& database) {
  SP_CHECK(database.execute(std::string(*base::embedded_file("perfdb/schema.sql"))));
  SP_TRY(Statement op, database.prepare("INSERT INTO op VALUES (?,?,?,?)"));
  for (const OpRow& row : op_table()) {
    const std::string keys = base::join(row.shape.keys, "|"), axes = axes_text(row.shape);
    op.bind(1, row.shape.op).bind(2, std::int64_t{row.shape.kernel_is_key});
    op.bind(3, keys).bind(4, axes);
    SP_CHECK(op.run());
  }
  return {};
}

Result<void> forget(const Database& database, const std::string& snapshot) {
  for (const char* sql :
       {"DELETE FROM grid WHERE id IN (SELECT grid FROM head JOIN source ON source.id = "
        "head.source "
        "WHERE snapshot = ?)",
        "DELETE FROM head WHERE source IN (SELECT id FROM source WHERE snapshot = ?)",
        "DELETE FROM rejected WHERE source IN (SELECT id FROM source WHERE snapshot = ?)",
        "DELETE FROM source WHERE snapshot = ?"}) {
    SP_TRY(Statement statement, database.prepare(sql));
    statement.bind(1, snapshot);
    SP_CHECK(statement.run());
  }
  return {};
}

Result<std::int64_t> last_id(const Database& database, const char* sql) {
  SP_TRY(Statement statement, database.prepare(sql));
  SP_TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Result<void> write_slices(const Database& database, std::int64_t source,
                          const std::vector<Slice>& slices) {
  SP_TRY(std::int64_t id, last_id(database, "SELECT coalesce(max(id), 0) FROM grid"));
  SP_TRY(Statement grid, database.prepare("INSERT INTO grid VALUES (?,?,?,?)"));
  SP_TRY(Statement head, database.prepare("INSERT INTO head VALUES (?,?,?,?,?)"));
  std::int64_t ordinal = 0;
  for (const Slice& slice : slices) {
    const GridBlob blob = encode_grid(slice);
    grid.bind(1, ++id).bind(2, std::span(blob.axes));
    grid.bind(3, std::int64_t{blob.packed}).bind(4, std::span(blob.latency));
    SP_CHECK(grid.run());
    const std::string keys = keys_text(slice);
    head.bind(1, source).bind(2, ordinal++).bind(3, slice.kernel).bind(4, keys).bind(5, id);
    SP_CHECK(head.run());
  }
  return {};
}

// The lines that were rejected are kept with the first source: they may belong to none.
Result<void> write_source(const Database& database, const CsvSource& source,
                          std::span<const RejectedLine> rejected) {
  SP_TRY(const std::int64_t last, last_id(database, "SELECT coalesce(max(id), 0) FROM source"));
  const Provenance& from = source.provenance;
  SP_TRY(Statement insert, database.prepare("INSERT INTO source VALUES (?,?,?,?,?,?,?,?,?,0,?,?)"));
  insert.bind(1, from.system).bind(2, source.op).bind(3, from.framework).bind(4, from.version);
  insert.bind(5, last + 1).bind(6, from.snapshot).bind(7, from.file);
  const auto bad = static_cast<std::int64_t>(rejected.size());
  insert.bind(8, source.rows_read + bad).bind(9, source.rows_kept);
  insert.bind(10, bad).bind(11, source.duplicates);
  SP_CHECK(insert.run());
  SP_TRY(Statement name, database.prepare("INSERT INTO rejected VALUES (?,?,?)"));
  for (const RejectedLine& line : rejected.first(std::min(rejected.size(), kMostNamed))) {
    name.bind(1, last + 1).bind(2, line.line).bind(3, line.reason);
    SP_CHECK(name.run());
  }
  return write_slices(database, last + 1, source.slices);
}

Result<void> write(const fs::path& file, bool fresh, const std::string& snapshot, Csv& csv,
                   const std::string& name) {
  SP_TRY(const Database database, Database::open(file));
  SP_CHECK(database.execute("BEGIN"));
  if (fresh) SP_CHECK(create(database));
  SP_CHECK(forget(database, snapshot));
  std::span<const RejectedLine> rejected = csv.rejected;
  for (CsvSource& source : csv.sources) {
    source.provenance.snapshot = snapshot;
    source.provenance.file = name;
    SP_CHECK(write_source(database, source, rejected));
    rejected = {};
  }
  return database.execute("COMMIT");
}

}  // namespace

Result<Csv> import_csv(const fs::path& database, const fs::path& csv_file) {
  const std::string name = csv_file.filename().string();
  SP_TRY(const std::string text, base::read_file(csv_file));
  Result<Csv> parsed = parse_csv(text);
  if (!parsed.ok()) return parsed.error().at(csv_file.string());
  Csv csv = std::move(parsed).value();
  if (csv.rows_kept == 0) {
    const std::string why =
        csv.rejected.empty()
            ? "there is no line after the header"
            : fmt::format("line {}: {}", csv.rejected.front().line, csv.rejected.front().reason);
    return Error::bad_input(
        fmt::format("{}: none of {} lines was good: {}", csv_file.string(), csv.rows_read, why));
  }
  std::error_code ec;
  const bool fresh = !fs::exists(database, ec);
  const Temporary temporary{database.string() + fmt::format(".tmp{}", ::getpid())};
  if (fresh) {
    fs::create_directories(fs::absolute(database).parent_path(), ec);
  } else {
    SP_CHECK(check_header(database));
    fs::copy_file(database, temporary.path, fs::copy_options::overwrite_existing, ec);
    if (ec) {
      return Error::environment(
          fmt::format("{}: cannot write: {}", temporary.path.string(), ec.message()));
    }
  }
  SP_CHECK(write(temporary.path, fresh, "csv " + name, csv, name));
  fs::rename(temporary.path, database, ec);
  if (ec) {
    return Error::environment(
        fmt::format("{}: cannot replace: {}", database.string(), ec.message()));
  }
  return csv;
}

}  // namespace setpoint::perfdb
