// SPDX-License-Identifier: Apache-2.0
#include "perfdb/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/sqlite.h"
#include "base/text.h"
#include "base/version.h"
#include "perfdb/file_header.h"
#include "perfdb/grid_blob.h"

namespace setpoint::perfdb {
namespace {

using base::Statement;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

OpShape read_shape(const Statement& row) {
  OpShape shape{row.text(0), row.integer(1) != 0, split(row.text(2), '|'), {}};
  for (const std::string& axis : split(row.text(3), '|')) shape.axes.push_back(split(axis, ','));
  return shape;
}

SourceInfo read_source(const Statement& row) {
  SourceInfo info;
  info.provenance = {row.text(5), row.text(0), row.text(2), row.text(3), row.text(6)};
  info.op = row.text(1);
  info.id = row.integer(4);
  info.rows_read = row.integer(7);
  info.rows_kept = row.integer(8);
  info.rows_filtered = row.integer(9);
  info.rows_rejected = row.integer(10);
  info.duplicates = row.integer(11);
  return info;
}

bool own(const SourceInfo& source) { return source.provenance.snapshot.starts_with("csv "); }

// Framework, version, then own measurements (newest import first) before packages.
bool source_before(const SourceInfo& a, const SourceInfo& b) {
  const auto where = [](const SourceInfo& s) {
    return std::tie(s.provenance.system, s.op, s.provenance.framework, s.provenance.version);
  };
  if (where(a) != where(b)) return where(a) < where(b);
  if (own(a) != own(b)) return own(a);
  return own(a) ? a.id > b.id : a.id < b.id;
}

}  // namespace

struct Store::Impl {
  std::filesystem::path file;
  base::Database database;
  std::map<std::string, OpShape, std::less<>> shapes;
  mutable std::mutex mutex;
  Statement heads, grid;  // the two that a search runs many times

  // Every row of a query, through `read`.
  template <class T, class Read>
  Result<std::vector<T>> rows(std::string_view sql, std::initializer_list<std::string_view> args,
                              Read read) const {
    const std::lock_guard lock(mutex);
    SP_TRY(Statement statement, database.prepare(sql));
    int index = 0;
    for (const std::string_view arg : args) statement.bind(++index, arg);
    std::vector<T> all;
    for (;;) {
      SP_TRY(const bool row, statement.step());
      if (!row) return all;
      all.push_back(read(statement));
    }
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& file) {
  SP_CHECK(check_header(file));
  SP_TRY(base::Database database, base::Database::open_immutable(file));
  SP_CHECK(database.execute("PRAGMA mmap_size = 268435456"));
  SP_TRY(Statement heads,
         database.prepare("SELECT grid, kernel, keys FROM head WHERE source = ? ORDER BY ordinal"));
  SP_TRY(Statement grid, database.prepare("SELECT axes, packed, latency FROM grid WHERE id = ?"));
  Store store(std::unique_ptr<Impl>(
      new Impl{file, std::move(database), {}, {}, std::move(heads), std::move(grid)}));
  SP_TRY(
      const std::vector<OpShape> shapes,
      store.impl_->rows<OpShape>("SELECT name, kernel_is_key, keys, axes FROM op", {}, read_shape));
  for (const OpShape& shape : shapes) store.impl_->shapes.emplace(shape.op, shape);
  return store;
}

const std::filesystem::path& Store::file() const { return impl_->file; }

Result<std::vector<std::string>> Store::ops() const {
  std::vector<std::string> names;
  for (const auto& [name, shape] : impl_->shapes) names.push_back(name);
  return names;
}

Result<OpShape> Store::shape(std::string_view op) const {
  const auto it = impl_->shapes.find(op);
  if (it != impl_->shapes.end()) return it->second;
  SP_TRY(const std::vector<std::string> known, ops());
  return Error::bad_input(base::unknown_name("operator", op, known));
}

Result<std::vector<std::string>> Store::systems() const {
  return impl_->rows<std::string>("SELECT DISTINCT system FROM source ORDER BY system", {},
                                  [](const Statement& row) { return row.text(0); });
}

Result<std::vector<SourceInfo>> Store::sources(std::string_view system, std::string_view op) const {
  std::string sql = "SELECT * FROM source WHERE ";
  sql += system.empty() ? "?1 = ''" : "system = ?1";
  sql += op.empty() ? " AND ?2 = ''" : " AND op = ?2";
  SP_TRY(std::vector<SourceInfo> all, impl_->rows<SourceInfo>(sql, {system, op}, read_source));
  std::sort(all.begin(), all.end(), source_before);
  return all;
}

Result<std::vector<SliceHead>> Store::heads(const SourceInfo& source) const {
  const std::lock_guard lock(impl_->mutex);
  Statement& statement = impl_->heads;
  statement.reset();
  statement.bind(1, source.id);
  std::vector<SliceHead> all;
  for (;;) {
    SP_TRY(const bool row, statement.step());
    if (!row) break;
    all.push_back({statement.integer(0), statement.text(1), split(statement.text(2), '|')});
  }
  statement.reset();
  return all;
}

Result<Slice> Store::read(const SourceInfo& source, const SliceHead& head) const {
  SP_TRY(const OpShape shape, this->shape(source.op));
  if (shape.keys.size() != head.keys.size()) {
    return Error::bad_input(fmt::format("{}: {}: slice {} has {} keys, expected {}",
                                        file().string(), source.op, head.id, head.keys.size(),
                                        shape.keys.size()));
  }
  Slice slice;
  slice.op = source.op;
  slice.kernel = head.kernel;
  slice.provenance = source.provenance;
  for (std::size_t i = 0; i < shape.keys.size(); ++i) {
    slice.keys.emplace_back(shape.keys[i], head.keys[i]);
  }
  const std::lock_guard lock(impl_->mutex);
  Statement& statement = impl_->grid;
  statement.reset();
  statement.bind(1, head.id);
  SP_TRY(const bool row, statement.step());
  const Result<void> decoded = row ? decode_grid(statement.blob(0), statement.integer(1) != 0,
                                                 statement.blob(2), shape.axes, slice)
                                   : Result<void>(Error::bad_input("missing grid"));
  statement.reset();
  if (!decoded.ok()) {
    return decoded.error().at(fmt::format("{}: {}, slice {}", file().string(), source.op, head.id));
  }
  return slice;
}

Result<std::optional<VersionSlots>> Store::slots(std::string_view system,
                                                 std::string_view framework) const {
  SP_TRY(const std::vector<VersionSlots> found,
         impl_->rows<VersionSlots>(
             "SELECT current, previous, next FROM slot WHERE system = ? AND framework = ?",
             {system, framework}, [](const Statement& row) {
               return VersionSlots{row.text(0), row.text(1), row.text(2)};
             }));
  return found.empty() ? std::nullopt : std::optional(found.front());
}

Result<std::vector<std::string>> Store::reuse(std::string_view system, std::string_view framework,
                                              std::string_view version, std::string_view op) const {
  return impl_->rows<std::string>(
      "SELECT from_version FROM reuse WHERE system = ? AND framework = ? AND version = ? AND op = "
      "? "
      "ORDER BY ordinal",
      {system, framework, version, op}, [](const Statement& row) { return row.text(0); });
}

Result<std::vector<FillGroup>> Store::fill_groups(std::string_view op) const {
  return impl_->rows<FillGroup>("SELECT kernel, frameworks FROM fill WHERE op = ? ORDER BY kernel",
                                {op}, [](const Statement& row) {
                                  return FillGroup{row.text(0), split(row.text(1), '|')};
                                });
}

Result<std::optional<std::string>> Store::default_lane(std::string_view framework,
                                                       std::string_view version, int sm) const {
  struct Lane {
    std::string floor, kernel;
  };
  SP_TRY(const std::vector<Lane> lanes,
         impl_->rows<Lane>("SELECT floor_version, kernel FROM lane WHERE framework = ? AND sm = ?",
                           {framework, std::to_string(sm)}, [](const Statement& row) {
                             return Lane{row.text(0), row.text(1)};
                           }));
  const auto asked = base::parse_version(version);
  const Lane* best = nullptr;
  for (const Lane& lane : lanes) {
    const auto floor = base::parse_version(lane.floor);
    if (!asked || !floor || *floor > *asked) continue;
    if (best == nullptr || *base::parse_version(best->floor) < *floor) best = &lane;
  }
  return best == nullptr ? std::nullopt : std::optional(best->kernel);
}

}  // namespace setpoint::perfdb
