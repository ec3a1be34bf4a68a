// SPDX-License-Identifier: Apache-2.0
#include "perfdb/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "base/embedded.h"
#include "base/text.h"
#include "base/version.h"
#include "hw/system.h"
#include "perfdb/csv_cells.h"
#include "perfdb/ops_table.h"

namespace setpoint::perfdb {
namespace {

using Strings = std::vector<std::string>;

constexpr std::int64_t kMostCoordinate = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kDefaultKernel = "default";  // where a kernel is a key and none is named
const Strings kAlways{"op", "system", "framework", "version", "latency_ms"};

// Names a frameworks column may hold: the serving frameworks and the collective libraries.
Strings framework_names() {
  Strings names{"nccl", "oneccl"};
  constexpr std::string_view kFolder = "perfdb/frameworks/";
  for (std::string_view path : base::embedded_files(kFolder)) {
    path.remove_prefix(kFolder.size());
    names.emplace_back(path.substr(0, path.rfind('.')));
  }
  return names;
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool contains(const Strings& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The header: where each column stands.
class Header {
 public:
  static Result<Header> read(const std::optional<Strings>& cells) {
    if (!cells) return Error::bad_input("no header line");
    Strings known = kAlways;
    known.emplace_back("kernel");
    for (const OpRow& row : op_table()) {
      known.insert(known.end(), row.shape.keys.begin(), row.shape.keys.end());
      for (const Strings& axis : row.shape.axes)
        known.insert(known.end(), axis.begin(), axis.end());
    }
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    Header header;
    for (const std::string& name : *cells) {
      if (!contains(known, name))
        return Error::bad_input(base::unknown_name("column", name, known));
      if (!header.columns_.emplace(name, header.width_++).second) {
        return Error::bad_input(fmt::format("column \"{}\" stands twice", name));
      }
    }
    for (const std::string& name : kAlways) {
      if (!header.columns_.contains(name)) {
        return Error::bad_input(fmt::format("no column \"{}\" in the header", name));
      }
    }
    return header;
  }
  std::size_t width() const { return width_; }
  // The cell of a column; empty where the header lacks it.
  std::string_view cell(const Strings& cells, std::string_view name) const {
    const auto it = columns_.find(name);
    return it == columns_.end() ? std::string_view{} : std::string_view(cells[it->second]);
  }
  const std::map<std::string, std::size_t, std::less<>>& columns() const { return columns_; }

 private:
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::size_t width_ = 0;
};

struct Row {
  const OpRow* op = nullptr;
  std::string kernel;
  Strings keys;
  std::vector<std::int64_t> coordinates;
  float latency_ms = 0;
};

// Reads one line against its operator; the error is the reason to reject it.
class RowReader {
 public:
  RowReader(const Header& header, const Strings& cells) : header_(header), cells_(cells) {}

  Result<Row> read(const Strings& systems, const Strings& frameworks) const {
    Row row;
    SP_TRY(row.op, find_op(cell("op")));
    SP_CHECK(known("system", systems));
    SP_CHECK(known("framework", frameworks));
    if (!base::parse_version(cell("version"))) {
      return Error::bad_input(fmt::format("version \"{}\" is not like 0.24.0", cell("version")));
    }
    SP_CHECK(no_foreign_cells(row.op->shape));
    for (const std::string& key : row.op->shape.keys) {
      SP_TRY(std::string value, key_value(key));
      row.keys.push_back(std::move(value));
    }
    SP_CHECK(read_coordinates(row));
    row.kernel = cell("kernel");
    if (row.kernel.empty() && row.op->shape.kernel_is_key) row.kernel = kDefaultKernel;
    SP_TRY(row.latency_ms, latency(row.op->zero_allowed));
    return row;
  }

 private:
  std::string_view cell(std::string_view name) const { return header_.cell(cells_, name); }

  Result<void> known(const char* column, const Strings& names) const {
    if (contains(names, cell(column))) return {};
    return Error::bad_input(base::unknown_name(column, cell(column), names));
  }
  Result<void> no_foreign_cells(const OpShape& shape) const {
    for (const auto& [name, index] : header_.columns()) {
      if (cells_[index].empty() || name == "kernel" || contains(kAlways, name)) continue;
      const bool own =
          contains(shape.keys, name) || std::any_of(shape.axes.begin(), shape.axes.end(),
                                                    [&column = name](const Strings& columns) {
                                                      return contains(columns, column);
                                                    });
      if (!own) return Error::bad_input(fmt::format("{} has no column \"{}\"", shape.op, name));
    }
    return {};
  }
  Result<std::string> key_value(const std::string& name) const {
    const std::string_view value = cell(name);
    if (value.empty()) return Error::bad_input(fmt::format("{} is empty", name));
    if (value.find('|') != std::string_view::npos) {
      return Error::bad_input(fmt::format("{} holds a |", name));
    }
    return std::string(value);
  }
  Result<void> read_coordinates(Row& row) const {
    for (const Strings& columns : row.op->shape.axes) {
      for (const std::string& name : columns) {
        const auto value = parse<std::int64_t>(cell(name));
        if (!value || *value < 0 || *value > kMostCoordinate) {
          return Error::bad_input(fmt::format("{} \"{}\" is not a whole number from 0 to {}", name,
                                              cell(name), kMostCoordinate));
        }
        row.coordinates.push_back(*value);
      }
    }
    if (!row.op->mha_key) return {};
    const Strings& keys = row.op->shape.keys;
    const auto at =
        static_cast<std::size_t>(std::find(keys.begin(), keys.end(), "kv_heads") - keys.begin());
    if (row.keys[at] == cell("heads")) row.keys[at] = "0";
    return {};
  }
  Result<float> latency(bool zero_allowed) const {
    const auto value = parse<double>(cell("latency_ms"));
    const auto narrow = static_cast<float>(value.value_or(-1));
    const char* const wrong = !value || !std::isfinite(narrow) ? "is not a finite number"
                              : *value < 0                     ? "is negative"
                              : narrow == 0 && !zero_allowed   ? "is zero"
                                                               : nullptr;
    if (wrong == nullptr) return narrow;
    return Error::bad_input(fmt::format("latency_ms \"{}\" {}", cell("latency_ms"), wrong));
  }

  const Header& header_;
  const Strings& cells_;
};

// Collects rows into slices, one Builder a source.
class Builder {
 public:
  explicit Builder(const OpRow* op) : op_(op) {}

  // False: a duplicate; the operator's rule has decided which of the two stays.
  bool add(const Row& row) {
    Part& part = part_of(row);
    Strings full = row.keys;
    if (op_->shape.kernel_is_key) full.push_back(row.kernel);
    const auto [it, fresh] = seen_.try_emplace({full, row.coordinates});
    if (fresh) {
      it->second = {&part, part.points.latency_ms.size()};
      part.points.coordinates.insert(part.points.coordinates.end(), row.coordinates.begin(),
                                     row.coordinates.end());
      part.points.latency_ms.push_back(row.latency_ms);
    } else if (op_->last_wins) {
      it->second.first->points.latency_ms[it->second.second] = row.latency_ms;
    }
    return fresh;
  }

  Result<std::vector<Slice>> slices() const {
    std::vector<Slice> all;
    for (const auto& part : order_) {
      if (part->points.latency_ms.empty()) continue;  // only duplicates of another kernel's rows
      SP_TRY(Slice slice, build_slice(op_->shape, part->points));
      slice.kernel = part->kernel;
      for (std::size_t i = 0; i < part->keys.size(); ++i) {
        slice.keys.emplace_back(op_->shape.keys[i], part->keys[i]);
      }
      all.push_back(std::move(slice));
    }
    return all;
  }

 private:
  struct Part {
    std::string kernel;
    Strings keys;
    Points points;
  };
  Part& part_of(const Row& row) {
    Part*& part = parts_[{row.kernel, row.keys}];
    if (part == nullptr) {
      order_.push_back(std::make_unique<Part>(Part{row.kernel, row.keys, {}}));
      part = order_.back().get();
    }
    return *part;
  }

  const OpRow* op_;
  std::map<std::pair<std::string, Strings>, Part*> parts_;
  std::vector<std::unique_ptr<Part>> order_;
  std::map<std::pair<Strings, std::vector<std::int64_t>>, std::pair<Part*, std::size_t>> seen_;
};

}  // namespace

Result<Csv> parse_csv(std::string_view text) {
  CsvLines lines(text);
  SP_TRY(const Header header, Header::read(lines.next()));
  const Strings systems = hw::system_names(), frameworks = framework_names();
  Csv csv;
  std::map<Strings, std::size_t> index;
  std::vector<Builder> builders;
  while (auto cells = lines.next()) {
    ++csv.rows_read;
    const bool complete = cells->size() == header.width();
    const Result<Row> row = complete ? RowReader(header, *cells).read(systems, frameworks)
                                     : Error::bad_input(fmt::format("{} cells, the header has {}",
                                                                    cells->size(), header.width()));
    if (!row.ok()) {
      csv.rejected.push_back({lines.line(), row.error().text});
      continue;
    }
    const auto cell = [&](const char* name) { return std::string(header.cell(*cells, name)); };
    const Provenance from{"", cell("system"), cell("framework"), cell("version"), ""};
    const auto [it, fresh] = index.try_emplace(
        {row->op->shape.op, from.system, from.framework, from.version}, builders.size());
    if (fresh) {
      builders.emplace_back(row->op);
      csv.sources.push_back({row->op->shape.op, from, {}, 0, 0, 0});
    }
    CsvSource& source = csv.sources[it->second];
    const bool kept = builders[it->second].add(*row);
    ++source.rows_read;
    ++(kept ? source.rows_kept : source.duplicates);
    ++(kept ? csv.rows_kept : csv.duplicates);
  }
  for (std::size_t i = 0; i < builders.size(); ++i) {
    SP_TRY(csv.sources[i].slices, builders[i].slices());
  }
  return csv;
}

}  // namespace setpoint::perfdb
