// SPDX-License-Identifier: Apache-2.0
#include "perfdb/ops_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>

#include "base/embedded.h"
#include "base/json.h"
#include "base/text.h"

namespace setpoint::perfdb {
namespace {

constexpr const char* kFile = "perfdb/ops.json";
constexpr std::size_t kMostCells = std::size_t{1} << 24;  // 64 MiB of cells in one slice

Result<bool> flag(const base::JsonView& row, const char* name) {
  const auto value = row.find(name);
  return value ? value->boolean() : Result<bool>(false);
}

Result<std::vector<std::string>> strings(const base::JsonView& list) {
  SP_TRY(const std::vector<base::JsonView> items, list.items());
  std::vector<std::string> all;
  for (const base::JsonView& item : items) {
    SP_TRY(std::string text, item.string());
    all.push_back(std::move(text));
  }
  return all;
}

Result<OpRow> read_row(const base::JsonView& row) {
  OpRow op;
  SP_TRY(const base::JsonView name, row.at("op"));
  SP_TRY(op.shape.op, name.string());
  SP_TRY(const base::JsonView kernel, row.at("kernel"));
  SP_TRY(const std::string kernel_role, kernel.string());
  op.shape.kernel_is_key = kernel_role == "key";
  op.has_kernel = kernel_role != "none";
  SP_TRY(const base::JsonView keys, row.at("keys"));
  SP_TRY(op.shape.keys, strings(keys));
  SP_TRY(const base::JsonView axes, row.at("axes"));
  SP_TRY(const std::vector<base::JsonView> each, axes.items());
  for (const base::JsonView& axis : each) {
    SP_TRY(std::vector<std::string> columns, strings(axis));
    op.shape.axes.push_back(std::move(columns));
  }
  SP_TRY(op.zero_allowed, flag(row, "zero"));
  SP_TRY(op.mha_key, flag(row, "mha_key"));
  if (const auto rule = row.find("duplicates")) {
    SP_TRY(const std::string which, rule->string());
    op.last_wins = which == "last";
  }
  return op;
}

Result<std::vector<OpRow>> read_table() {
  const auto text = base::embedded_file(kFile);
  if (!text) return Error::environment(fmt::format("{}: not in this binary", kFile));
  SP_TRY(const base::Json json, base::parse_json(*text, kFile));
  SP_TRY(const base::JsonView list, base::JsonView(json, kFile).at("ops"));
  SP_TRY(const std::vector<base::JsonView> rows, list.items());
  std::vector<OpRow> table;
  for (const base::JsonView& row : rows) {
    SP_TRY(OpRow op, read_row(row));
    table.push_back(std::move(op));
  }
  return table;
}

}  // namespace

const std::vector<OpRow>& op_table() {
  static const std::vector<OpRow> table = [] {
    Result<std::vector<OpRow>> read = read_table();
    if (!read.ok()) {
      fmt::print(stderr, "{}\n", read.error().text);
      std::abort();
    }
    return std::move(read).value();
  }();
  return table;
}

Result<const OpRow*> find_op(std::string_view op) {
  std::vector<std::string> known;
  for (const OpRow& row : op_table()) {
    if (row.shape.op == op) return &row;
    known.push_back(row.shape.op);
  }
  return Error::bad_input(base::unknown_name("operator", op, known));
}

Result<Slice> build_slice(const OpShape& shape, const Points& points) {
  std::size_t width = 0, cells = 1;
  for (const auto& columns : shape.axes) width += columns.size();
  const std::size_t count = points.latency_ms.size();
  std::vector<std::size_t> cell(count, 0);
  Slice slice;
  slice.op = shape.op;
  std::size_t offset = 0;
  for (const auto& columns : shape.axes) {
    using Coordinates = std::vector<std::int64_t>;
    std::map<Coordinates, std::size_t> place;
    std::vector<Coordinates> seen;
    std::vector<Coordinates> own(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin =
          points.coordinates.begin() + static_cast<std::ptrdiff_t>(i * width + offset);
      own[i] = {begin, begin + static_cast<std::ptrdiff_t>(columns.size())};
      if (place.emplace(own[i], seen.size()).second) seen.push_back(own[i]);
    }
    Axis axis{columns, {}};
    if (!axis.is_site()) {
      std::sort(seen.begin(), seen.end());
      std::size_t rank = 0;
      for (auto& [coordinates, index] : place) index = rank++;
    }
    for (const Coordinates& c : seen) {
      axis.coordinates.insert(axis.coordinates.end(), c.begin(), c.end());
    }
    if (seen.size() > kMostCells / cells) {
      return Error::bad_input(
          fmt::format("{}: {} points would need a grid of more than {} cells; keep points of one "
                      "slice on common {} values",
                      shape.op, count, kMostCells, columns.back()));
    }
    cells *= seen.size();
    for (std::size_t i = 0; i < count; ++i) cell[i] = cell[i] * seen.size() + place[own[i]];
    offset += columns.size();
    slice.axes.push_back(std::move(axis));
  }
  slice.latency_ms.assign(cells, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < count; ++i) slice.latency_ms[cell[i]] = points.latency_ms[i];
  return slice;
}

}  // namespace setpoint::perfdb
