// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "hw/system.h"
#include "ops/roofline.h"

namespace setpoint::tools {
namespace {

using perfdb::OrderedSource;
using perfdb::Slice;
using perfdb::SliceHead;
using perfdb::SourceInfo;
using perfdb::Store;

using Shape = std::array<std::int64_t, 4>;  // topk, experts, hidden, inter

// One cell of a slice, by the names of perfdb/ops.json.
class Cell {
 public:
  explicit Cell(const Slice& slice) : slice_(slice) {
    for (const perfdb::Axis& axis : slice.axes) {
      for (const std::string& column : axis.columns) names_.push_back(column);
    }
    values_.resize(names_.size());
  }
  void go_to(std::size_t cell) {
    std::size_t end = values_.size();
    for (std::size_t a = slice_.axes.size(); a-- > 0;) {
      const perfdb::Axis& axis = slice_.axes[a];
      const std::size_t width = axis.columns.size(), at = cell % axis.size();
      cell /= axis.size();
      end -= width;
      for (std::size_t i = 0; i < width; ++i) values_[end + i] = axis.coordinates[at * width + i];
    }
  }
  std::int64_t axis(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return values_[i];
    }
    return 0;
  }
  std::string_view key(std::string_view name) const {
    for (const auto& [key, value] : slice_.keys) {
      if (key == name) return value;
    }
    return {};
  }
  std::int64_t number(std::string_view name) const {
    std::int64_t value = 0;
    const std::string_view text = key(name);
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  // A format that is not known makes the cell unusable.
  ops::Quant quant(std::string_view name) {
    const auto q = ops::parse_quant(key(name));
    known_ = known_ && q.has_value();
    return q.value_or(ops::Quant::bfloat16);
  }
  double alpha() {
    constexpr std::string_view kLaw = "power_law_";
    const std::string_view text = key("distribution");
    double value = 0;
    if (text == "balanced") return 0;
    const bool law = text.starts_with(kLaw);
    const auto [end, error] =
        std::from_chars(text.data() + (law ? kLaw.size() : 0), text.data() + text.size(), value);
    known_ = known_ && law && error == std::errc();
    return value;
  }
  void unknown() { known_ = false; }
  bool known() const { return known_; }

 private:
  const Slice& slice_;
  std::vector<std::string_view> names_;
  std::vector<std::int64_t> values_;
  bool known_ = true;
};

struct Query {
  ops::Op op;
  ops::Point at;
};

double d(std::int64_t v) { return static_cast<double>(v); }
ops::Point prompt(const Cell& c) { return {0, d(c.axis("batch")), d(c.axis("seq")), 0}; }
std::int64_t kv_heads(const Cell& c) {
  const std::int64_t n = c.number("kv_heads");
  return n == 0 ? c.axis("heads") : n;  // 0: as many as query heads
}

Query gemm(Cell& c) {
  return {ops::Gemm{c.quant("gemm_dtype"), c.axis("n"), c.axis("k")}, {d(c.axis("m"))}};
}
Query context_attention(Cell& c) {
  return {
      ops::ContextAttention{c.axis("heads"), kv_heads(c), c.number("head_dim"), c.number("window"),
                            c.quant("kv_cache_dtype"), c.quant("attn_dtype")},
      prompt(c)};
}
Query generation_attention(Cell& c) {
  return {ops::GenerationAttention{c.axis("heads"), kv_heads(c), c.number("head_dim"),
                                   c.number("window"), c.quant("kv_cache_dtype")},
          prompt(c)};
}
Query encoder_attention(Cell& c) {
  return {ops::EncoderAttention{c.axis("heads"), c.number("head_dim"), c.quant("attn_dtype")},
          prompt(c)};
}
Query context_mla(Cell& c) {
  return {ops::ContextMla{c.axis("heads"), c.quant("kv_cache_dtype"), c.quant("mla_dtype")},
          prompt(c)};
}
Query generation_mla(Cell& c) {
  return {ops::GenerationMla{c.axis("heads"), c.quant("kv_cache_dtype")}, prompt(c)};
}
Query mla_context_module(Cell& c) {
  return {ops::MlaContextModule{c.axis("heads"), c.number("native_heads"), c.quant("gemm_type"),
                                c.quant("kv_cache_dtype"), c.quant("mla_dtype")},
          prompt(c)};
}
Query mla_generation_module(Cell& c) {
  ops::MlaGenerationModule op;
  op.heads = c.axis("heads");
  op.native_heads = c.number("native_heads");
  op.gemm = c.quant("gemm_type");
  op.kv = c.quant("kv_cache_dtype");
  return {op, prompt(c)};
}
Query mla_bmm(Cell& c) {
  return {ops::MlaBmm{c.axis("heads"), c.key("stage") == "pre", c.quant("bmm_dtype")},
          {0, d(c.axis("tokens"))}};
}
Query moe(Cell& c) {
  ops::Moe op;
  op.hidden = c.axis("hidden");
  op.inter = c.axis("inter");
  op.topk = c.axis("topk");
  op.experts = c.axis("experts");
  op.tp = c.axis("moe_tp");
  op.ep = c.axis("moe_ep");
  op.quant = c.quant("moe_dtype");
  op.alpha = c.alpha();
  return {op, {d(c.axis("tokens"))}};
}
Query custom_allreduce(Cell& c) {
  return {ops::CustomAllReduce{1, c.axis("ranks")}, {d(c.axis("elements"))}};
}
Query collective(Cell& c) {
  const auto kind =
      std::find(ops::kCollectiveNames.begin(), ops::kCollectiveNames.end(), c.key("kind"));
  if (kind == ops::kCollectiveNames.end()) {
    c.unknown();
    return {};
  }
  ops::Collective op;
  op.kind = static_cast<ops::CollectiveKind>(kind - ops::kCollectiveNames.begin());
  op.elements = 1;
  op.ranks = c.axis("ranks");
  op.quant = c.quant("dtype");
  return {op, {d(c.axis("elements"))}};
}

struct FamilyReader {
  std::string_view family;
  Query (*query)(Cell&);
};
constexpr std::array kReaders{FamilyReader{"gemm", gemm},
                              FamilyReader{"context_attention", context_attention},
                              FamilyReader{"generation_attention", generation_attention},
                              FamilyReader{"encoder_attention", encoder_attention},
                              FamilyReader{"context_mla", context_mla},
                              FamilyReader{"generation_mla", generation_mla},
                              FamilyReader{"mla_context_module", mla_context_module},
                              FamilyReader{"mla_generation_module", mla_generation_module},
                              FamilyReader{"mla_bmm", mla_bmm},
                              FamilyReader{"moe", moe},
                              FamilyReader{"custom_allreduce", custom_allreduce},
                              FamilyReader{"nccl", collective}};

bool is_package(const SourceInfo& source) { return !source.provenance.snapshot.starts_with("csv"); }

// The version whose tables an engine of this framework is answered with today.
Result<std::string> current_version(const Store& store, const hw::System& system,
                                    const std::string& framework, std::string_view family) {
  if (family == "nccl") {
    SP_TRY(const auto sources, store.sources(system.name, family));
    std::string newest;
    for (const SourceInfo& s : sources) {
      if (s.provenance.framework != framework) continue;
      newest = s.provenance.version;
      if (newest == system.collective_version) break;
    }
    return newest;
  }
  SP_TRY(const auto slots, store.slots(system.name, framework));
  return slots ? slots->current : std::string();
}

// All files of the first version that has rows.
Result<std::vector<SourceInfo>> chosen(const Store& store, const hw::System& system,
                                       const std::string& framework, std::string_view family) {
  SP_TRY(const auto version, current_version(store, system, framework, family));
  SP_TRY(const auto ordered,
         perfdb::ordered_sources(store, system.name, framework, version, family));
  std::vector<SourceInfo> files;
  for (const OrderedSource& o : ordered) {
    const perfdb::Provenance& from = o.source.provenance;
    if (from.framework != framework || o.source.rows_kept == 0 || !is_package(o.source)) continue;
    if (files.empty() || files.front().provenance.version == from.version) {
      files.push_back(o.source);
    }
  }
  return files;
}

// Expert shapes measured by a kernel without the gate projection: the same model's experts, whoever
// measured them. The tables do not say it otherwise.
Result<std::set<Shape>> ungated_shapes(const Store& store) {
  std::set<Shape> shapes;
  SP_TRY(const auto sources, store.sources("", "moe"));
  for (const SourceInfo& source : sources) {
    SP_TRY(const auto heads, store.heads(source));
    for (const SliceHead& head : heads) {
      if (head.kernel.find("nongated") == std::string::npos) continue;
      SP_TRY(const Slice slice, store.read(source, head));
      Cell cell(slice);
      for (std::size_t i = 0; i < slice.latency_ms.size(); ++i) {
        cell.go_to(i);
        shapes.insert(
            {cell.axis("topk"), cell.axis("experts"), cell.axis("hidden"), cell.axis("inter")});
      }
    }
  }
  return shapes;
}

class TableMaker {
 public:
  TableMaker(const hw::System& system, const FamilyReader& reader, const std::set<Shape>& ungated,
             Left& left)
      : system_(system), reader_(reader), ungated_(ungated), left_(left) {}

  void add(const Slice& slice) {
    Cell cell(slice);
    for (std::size_t i = 0; i < slice.latency_ms.size(); ++i) {
      const double time = slice.latency_ms[i];
      if (std::isnan(time) || time <= 0) continue;
      cell.go_to(i);
      add(cell, time);
    }
  }

  std::vector<Table> take() && {
    std::vector<Table> tables;
    for (auto& [key, samples] : by_key_) {
      const auto* form = perfdb::compact::find_form(reader_.family);
      const auto family = static_cast<std::size_t>(form - perfdb::compact::forms().data());
      tables.push_back({system_.name, "", "", family, key, std::move(samples)});
    }
    return tables;
  }

 private:
  void add(Cell& cell, double time) {
    Query query = reader_.query(cell);
    if (!cell.known()) {
      ++left_.unknown;
      return;
    }
    if (auto* moe = std::get_if<ops::Moe>(&query.op)) {
      moe->gated = !ungated_.contains({moe->topk, moe->experts, moe->hidden, moe->inter});
    }
    if (!ops::supported(query.op, system_)) {
      ++left_.no_peak;
      return;
    }
    namespace compact = perfdb::compact;
    const auto* form = compact::find_form(reader_.family);
    by_key_[compact::key_of(query.op)].push_back(
        {compact::coordinates(*form, compact::fixed_of(query.op), query.at),
         ops::roofline(query.op, query.at, system_).value(), time});
  }

  const hw::System& system_;
  const FamilyReader& reader_;
  const std::set<Shape>& ungated_;
  Left& left_;
  std::map<perfdb::compact::Key, std::vector<Sample>> by_key_;
};

struct Part {
  SourceInfo source;
  SliceHead head;
};
using Parts = std::vector<Part>;

// Attention kernels are alternatives: of those measured for one number format, head size and
// window, the engine's default counts, else the one with the most slices.
Parts one_kernel(const std::vector<std::pair<std::string, Parts>>& kernels,
                 const std::optional<std::string>& lane) {
  const std::pair<std::string, Parts>* best = nullptr;
  for (const auto& kernel : kernels) {
    if (lane && kernel.first == *lane) return kernel.second;
    if (best == nullptr || kernel.second.size() > best->second.size()) best = &kernel;
  }
  return best->second;
}

class SourceReader {
 public:
  SourceReader(const Store& store, const hw::System& system, const std::set<Shape>& ungated,
               Left& left)
      : store_(store), system_(system), ungated_(ungated), left_(left) {}

  Result<std::vector<Table>> read(const std::vector<SourceInfo>& files,
                                  const FamilyReader& reader) {
    SP_TRY(const auto shape, store_.shape(reader.family));
    SP_TRY(const auto parts, all_parts(files));
    TableMaker maker(system_, reader, ungated_, left_);
    SP_TRY(const auto used, shape.kernel_is_key ? of_one_kernel(parts, shape) : Result(parts));
    // Slices of one key complete each other; where two hold a point the first counts.
    std::map<std::vector<std::string>, std::vector<Slice>> by_keys;
    for (const Part& part : used) {
      SP_TRY(Slice slice, store_.read(part.source, part.head));
      by_keys[part.head.keys].push_back(std::move(slice));
    }
    for (const auto& [keys, slices] : by_keys) maker.add(perfdb::merge(slices));
    std::vector<Table> tables = std::move(maker).take();
    for (Table& table : tables) {
      table.framework = files.front().provenance.framework;
      table.version = files.front().provenance.version;
    }
    return tables;
  }

 private:
  Result<Parts> all_parts(const std::vector<SourceInfo>& files) {
    Parts parts;
    for (const SourceInfo& file : files) {
      SP_TRY(const auto heads, store_.heads(file));
      for (const SliceHead& head : heads) parts.push_back({file, head});
    }
    return parts;
  }

  Result<Parts> of_one_kernel(const Parts& parts, const perfdb::OpShape& shape) {
    const perfdb::Provenance& from = parts.front().source.provenance;
    SP_TRY(const auto lane, store_.default_lane(from.framework, from.version, system_.gpu.sm));
    std::map<std::vector<std::string>, std::vector<std::pair<std::string, Parts>>> groups;
    for (const Part& part : parts) {
      std::vector<std::string> group = part.head.keys;
      for (std::size_t i = 0; i < group.size(); ++i) {
        if (shape.keys[i] == "kv_heads") group[i].clear();
      }
      auto& kernels = groups[group];
      auto found = std::find_if(kernels.begin(), kernels.end(),
                                [&](const auto& k) { return k.first == part.head.kernel; });
      if (found == kernels.end()) found = kernels.insert(found, {part.head.kernel, {}});
      found->second.push_back(part);
    }
    Parts used;
    for (const auto& [group, kernels] : groups) {
      const Parts chosen_parts = one_kernel(kernels, lane);
      used.insert(used.end(), chosen_parts.begin(), chosen_parts.end());
      SP_CHECK(count_others(kernels, chosen_parts.front().head.kernel));
    }
    return used;
  }

  Result<void> count_others(const std::vector<std::pair<std::string, Parts>>& kernels,
                            const std::string& used) {
    for (const auto& [kernel, parts] : kernels) {
      if (kernel == used) continue;
      for (const Part& part : parts) {
        SP_TRY(const Slice slice, store_.read(part.source, part.head));
        left_.other_kernel += std::count_if(slice.latency_ms.begin(), slice.latency_ms.end(),
                                            [](float v) { return v > 0; });
      }
    }
    return {};
  }

  const Store& store_;
  const hw::System& system_;
  const std::set<Shape>& ungated_;
  Left& left_;
};

Result<std::set<std::string>> frameworks(const Store& store, const std::string& system,
                                         std::string_view family) {
  std::set<std::string> names;
  SP_TRY(const auto sources, store.sources(system, family));
  for (const SourceInfo& source : sources) names.insert(source.provenance.framework);
  return names;
}

}  // namespace

Result<Left> for_each_table(const Store& store, const std::function<void(Table&&)>& take) {
  Left left;
  SP_TRY(const auto ungated, ungated_shapes(store));
  SP_TRY(const auto systems, store.systems());
  for (const std::string& name : systems) {
    SP_TRY(const hw::System system, hw::find_system(name));
    SourceReader reader(store, system, ungated, left);
    for (const FamilyReader& family : kReaders) {
      SP_TRY(const auto names, frameworks(store, name, family.family));
      for (const std::string& framework : names) {
        SP_TRY(const auto files, chosen(store, system, framework, family.family));
        if (files.empty()) continue;
        SP_TRY(auto tables, reader.read(files, family));
        for (Table& table : tables) take(std::move(table));
      }
    }
  }
  return left;
}

Result<std::string> snapshot(const Store& store) {
  SP_TRY(const auto sources, store.sources("", "gemm"));
  for (const SourceInfo& source : sources) {
    if (is_package(source)) return source.provenance.snapshot;
  }
  return Error::bad_input(store.file().string() + ": no table of a published package");
}

}  // namespace setpoint::tools
