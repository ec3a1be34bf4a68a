// SPDX-License-Identifier: Apache-2.0
#include "perfdb/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace setpoint::perfdb {
namespace {

using Strings = std::vector<std::string>;

Strings columns_of(const OpShape& shape) {
  Strings columns{"op", "system", "framework", "version", "kernel"};
  columns.insert(columns.end(), shape.keys.begin(), shape.keys.end());
  for (const Strings& axis : shape.axes) columns.insert(columns.end(), axis.begin(), axis.end());
  columns.emplace_back("latency_ms");
  return columns;
}

// The filter as (column, value) by index.
using Conditions = std::vector<std::pair<std::size_t, std::string>>;

Result<Conditions> conditions_of(const Strings& columns, const RowFilter& filter) {
  Conditions conditions;
  for (const auto& [name, value] : filter.where) {
    const auto it = std::find(columns.begin(), columns.end(), name);
    if (it == columns.end()) return Error::bad_input(base::unknown_name("column", name, columns));
    conditions.emplace_back(static_cast<std::size_t>(it - columns.begin()), value);
  }
  return conditions;
}

// Do the cells from `begin` on meet the conditions on them?
bool meets(const Strings& cells, std::size_t begin, const Conditions& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const auto& condition) {
    const auto& [at, value] = condition;
    return at < begin || at >= cells.size() || cells[at] == value;
  });
}

void append_coordinates(const Slice& slice, std::size_t cell, Strings& cells) {
  std::vector<std::size_t> place(slice.axes.size());
  for (std::size_t a = slice.axes.size(); a-- > 0;) {
    place[a] = cell % slice.axes[a].size();
    cell /= slice.axes[a].size();
  }
  for (std::size_t a = 0; a < slice.axes.size(); ++a) {
    const std::size_t width = slice.axes[a].columns.size();
    for (std::size_t i = 0; i < width; ++i) {
      cells.push_back(std::to_string(slice.axes[a].coordinates[place[a] * width + i]));
    }
  }
}

void add_rows(const Slice& slice, const Strings& head, const Conditions& conditions,
              std::size_t most, RowTable& table) {
  for (std::size_t cell = 0; cell < slice.latency_ms.size(); ++cell) {
    if (std::isnan(slice.latency_ms[cell])) continue;
    Strings cells = head;
    append_coordinates(slice, cell, cells);
    cells.push_back(fmt::format("{}", slice.latency_ms[cell]));
    if (!meets(cells, head.size(), conditions)) continue;
    if (++table.matching <= most) table.rows.push_back(std::move(cells));
  }
}

}  // namespace

Result<RowTable> rows_of(const Store& store, std::string_view op, const RowFilter& filter,
                         std::size_t most) {
  SP_TRY(const OpShape shape, store.shape(op));
  SP_TRY(const Strings systems, store.systems());
  if (std::find(systems.begin(), systems.end(), filter.system) == systems.end()) {
    return Error::bad_input(base::unknown_name("system", filter.system, systems));
  }
  RowTable table{columns_of(shape), {}, 0};
  SP_TRY(const Conditions conditions, conditions_of(table.columns, filter));
  SP_TRY(const std::vector<SourceInfo> sources, store.sources(filter.system, op));
  for (const SourceInfo& source : sources) {
    const Provenance& from = source.provenance;
    if (!filter.framework.empty() && from.framework != filter.framework) continue;
    if (!filter.version.empty() && from.version != filter.version) continue;
    SP_TRY(const std::vector<SliceHead> heads, store.heads(source));
    for (const SliceHead& head : heads) {
      Strings cells{source.op, from.system, from.framework, from.version, head.kernel};
      cells.insert(cells.end(), head.keys.begin(), head.keys.end());
      if (!meets(cells, 0, conditions)) continue;
      SP_TRY(const Slice slice, store.read(source, head));
      add_rows(slice, cells, conditions, most, table);
    }
  }
  return table;
}

}  // namespace setpoint::perfdb
