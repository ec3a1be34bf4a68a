// SPDX-License-Identifier: Apache-2.0
// How well do the rules answer points that they have not seen? Takes measured tables of the current
// versions, hides points, asks for them and compares: our rules and those of AIConfigurator 0.12.0
// (lines between neighbours, utilisation held outside, gate of two octaves for GEMM shapes) side by
// side. Deterministic: every `--every`-th slice or site. Its table stands in docs/accuracy.md.
//
//   leftout DATABASE [EVERY]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "leftout_rival.h"
#include "ops/roofline.h"
#include "perfdb/bind.h"
#include "perfdb/estimate.h"
#include "perfdb/sisters.h"
#include "perfdb/version.h"

namespace setpoint::perfdb {
namespace {

constexpr float kHidden = std::numeric_limits<float>::quiet_NaN();

struct Errors {
  std::vector<double> ours, rival;
  int rival_misses = 0;
};

// Rows of the printed tables by "family|what".
struct Findings {
  std::map<std::string, Errors> rows;
  std::map<std::string, std::vector<double>> kinds;   // errors by family and source
  std::map<std::string, std::vector<double>> shares;  // reached roofline by family and format
  std::map<std::string, std::vector<double>> estimates, rooflines;  // errors without any table
};

// Coordinates of a cell of [site or axis]...[axis].
using Cell = std::vector<std::vector<std::int64_t>>;

Cell cell_of(const Slice& slice, std::size_t index) {
  Cell cell(slice.axes.size());
  for (std::size_t a = slice.axes.size(); a-- > 0;) {
    const Axis& axis = slice.axes[a];
    const std::size_t i = index % axis.size(), width = axis.columns.size();
    index /= axis.size();
    for (std::size_t c = 0; c < width; ++c) cell[a].push_back(axis.coordinates[i * width + c]);
  }
  return cell;
}

// Without the outermost coordinates that have no point left: to the rules they were never there.
Slice trimmed(const Slice& slice) {
  Slice out = slice;
  if (out.axes.front().is_site()) return out;
  std::vector<std::int64_t>& xs = out.axes.front().coordinates;
  const std::size_t block = slice.latency_ms.size() / slice.axes.front().size();
  xs.clear();
  out.latency_ms.clear();
  for (std::size_t i = 0; i < slice.axes.front().size(); ++i) {
    const auto begin = slice.latency_ms.begin() + static_cast<std::ptrdiff_t>(i * block);
    const auto end = begin + static_cast<std::ptrdiff_t>(block);
    if (std::none_of(begin, end, [](float ms) { return ms > 0; })) continue;
    xs.push_back(slice.axes.front().coordinates[i]);
    out.latency_ms.insert(out.latency_ms.end(), begin, end);
  }
  return out;
}

double alpha_of(const std::string& skew) {
  return skew == "balanced" ? 0 : std::stod(skew.substr(10));
}

struct Asked {
  ops::Op op;
  ops::Point at;
};

// The operator and point that a cell of a slice measured.
Asked asked(const Slice& slice, const Cell& cell) {
  const auto key = [&](std::size_t i) { return slice.keys[i].second; };
  const auto quant = [&](std::size_t i) { return *ops::parse_quant(key(i)); };
  const auto number = [&](std::size_t i) { return std::stoll(key(i)); };
  const auto d = [&](std::size_t a) { return static_cast<double>(cell[a][0]); };
  const std::int64_t first = cell[0][0];
  const ops::Point prompt = cell.size() > 2 ? ops::Point{0, d(2), d(1), 0} : ops::Point{};
  const ops::Point decode = cell.size() > 2 ? ops::Point{0, d(1), d(2), 0} : ops::Point{};
  const auto kv_heads = [&](std::size_t i) { return number(i) == 0 ? first : number(i); };
  if (slice.op == "gemm") {
    return {ops::Gemm{quant(0), cell[0][0], cell[0][1]}, {.tokens = d(1)}};
  }
  if (slice.op == "moe") {
    const double alpha = alpha_of(key(1));
    const auto& s = cell[0];
    return {ops::Moe{s[2], s[3], s[0], s[1], s[4], s[5], quant(0), true, alpha}, {.tokens = d(1)}};
  }
  if (slice.op == "context_attention") {
    return {ops::ContextAttention{first, kv_heads(2), number(3), number(4), quant(1), quant(0)},
            prompt};
  }
  if (slice.op == "generation_attention") {
    return {ops::GenerationAttention{first, kv_heads(1), number(2), number(3), quant(0)}, decode};
  }
  if (slice.op == "context_mla") return {ops::ContextMla{first, quant(1), quant(0)}, prompt};
  if (slice.op == "generation_mla") return {ops::GenerationMla{first, quant(0)}, decode};
  if (slice.op == "mla_context_module") {
    return {ops::MlaContextModule{first, number(3), quant(2), quant(1), quant(0)}, prompt};
  }
  if (slice.op == "mla_generation_module") {
    return {ops::MlaGenerationModule{first, number(2), quant(1), quant(0)}, decode};
  }
  if (slice.op == "custom_allreduce") return {ops::CustomAllReduce{1, first}, {.tokens = d(1)}};
  std::size_t kind = 0;
  while (ops::kCollectiveNames[kind] != key(0)) ++kind;
  return {ops::Collective{static_cast<ops::CollectiveKind>(kind), 1, first, quant(1)},
          {.tokens = d(1)}};
}

class Trial {
 public:
  Trial(Findings& findings, Tables& tables, Slice slice)
      : findings_(findings), tables_(tables), full_(std::move(slice)) {
    for (const auto& [name, value] : full_.keys) keys_.push_back(value);
    raise();
  }
  const Slice& slice() const { return full_; }

  // Hides the cells that `hide` names and asks every `step`-th of those that `ask` names.
  template <class Hide, class Ask>
  void run(const std::string& name, Hide hide, Ask ask, std::size_t step = 1) {
    Slice kept = full_, kept_raised = raised_;
    std::vector<std::size_t> hidden;
    for (std::size_t i = 0; i < kept.latency_ms.size(); ++i) {
      if (!(full_.latency_ms[i] > 0)) continue;
      const Cell cell = cell_of(full_, i);
      if (!hide(cell)) continue;
      kept.latency_ms[i] = kept_raised.latency_ms[i] = kHidden;
      if (ask(cell)) hidden.push_back(i);
    }
    if (hidden.empty()) return;
    kept = trimmed(kept);
    kept_raised = trimmed(kept_raised);
    tables_.put(full_.op, keys_, std::make_shared<const Slice>(kept));
    Errors& errors = findings_.rows[fmt::format("{}|{}", full_.op, name)];
    for (std::size_t i = 0; i < hidden.size(); i += step) score(kept_raised, hidden[i], errors);
    tables_.put(full_.op, keys_, std::make_shared<const Slice>(full_));
  }
  template <class Hide>
  void run(const std::string& name, Hide hide) {
    run(name, hide, [](const Cell&) { return true; });
  }

 private:
  // The rival raises rows of these families to their roofline when it loads them; so do we.
  void raise() {
    raised_ = full_;
    if (!find_family(full_.op)->at_least_roofline) return;
    for (std::size_t i = 0; i < raised_.latency_ms.size(); ++i) {
      if (!(raised_.latency_ms[i] > 0)) continue;
      const auto [op, at] = asked(full_, cell_of(full_, i));
      const auto least = static_cast<float>(ops::roofline(op, at, tables_.system()).value());
      raised_.latency_ms[i] = std::max(raised_.latency_ms[i], least);
    }
  }

  void score(const Slice& kept, std::size_t index, Errors& errors) {
    const auto [op, at] = asked(full_, cell_of(full_, index));
    const auto bound = bind_tables(tables_, op);
    if (!bound.ok() || !*bound) return;
    const double truth = static_cast<double>(full_.latency_ms[index]);
    const Answer ours = make_pricer(**bound)->at(at);
    errors.ours.push_back(std::abs(ours.time.value() / truth - 1));
    const auto source = kSourceNames[static_cast<std::size_t>(ours.source)];
    findings_.kinds[fmt::format("{}|{}", full_.op, source)].push_back(errors.ours.back());
    const auto sol = [&](const std::vector<std::vector<double>>& where) {
      Cell cell;
      for (const auto& c : where) cell.emplace_back(c.begin(), c.end());
      const auto [there, point] = asked(full_, cell);
      return ops::roofline(there, point, tables_.system()).value();
    };
    const double theirs = rival::answer(kept, cell_of(full_, index), sol);
    if (std::isnan(theirs)) {
      ++errors.rival_misses;
    } else {
      errors.rival.push_back(std::abs(theirs / truth - 1));
    }
  }

  Findings& findings_;
  Tables& tables_;
  Slice full_, raised_;
  Keys keys_;
};

// What share of its roofline each point reaches once the launch (or hand-over) is paid, where the
// roofline exceeds that; and how far off an answer without any table is.
void share(Findings& findings, const Slice& slice, const hw::System& system, std::size_t step) {
  const bool link = slice.op == "nccl" || slice.op == "custom_allreduce";
  const double launch = system.gpu.launch.value() * (slice.op == "moe" ? 2 : 1);
  const double plus = link ? system.node.p2p_latency.value() : launch;
  std::string format = "all";
  if (slice.op == "gemm" || slice.op == "moe") {
    const ops::QuantInfo& quant = ops::info(*ops::parse_quant(slice.keys[0].second));
    format = fmt::format("{} bytes on {}", quant.bytes,
                         ops::kPipeNames[static_cast<std::size_t>(quant.pipe)]);
  }
  step = std::min(step, slice.latency_ms.size() / 50 + 1);
  for (std::size_t i = step / 2; i < slice.latency_ms.size(); i += step) {
    const auto truth = static_cast<double>(slice.latency_ms[i]);
    if (!(truth > plus)) continue;
    const auto [op, at] = asked(slice, cell_of(slice, i));
    const double roofline = ops::roofline(op, at, system).value();
    if (roofline > plus)
      findings.shares[slice.op + "|" + format].push_back(roofline / (truth - plus));
    const double estimate = estimate_pricer(op, system)->at(at).time.value();
    findings.estimates[slice.op + "|all"].push_back(std::abs(estimate / truth - 1));
    findings.rooflines[slice.op + "|all"].push_back(std::abs(roofline / truth - 1));
  }
}

// A table that is not there at all, told as Chain does: by the nearest other keys of the family, by
// the same keys of another framework; by another format's is rarer.
void borrow(Findings& findings, Tables& tables, const std::vector<const Tables*>& others,
            const Slice& slice, const Keys& keys, std::size_t step) {
  const hw::System& system = tables.system();
  const auto full = std::make_shared<const Slice>(slice);
  tables.put(slice.op, keys, nullptr);
  for (std::size_t i = step / 2; i < slice.latency_ms.size(); i += step) {
    if (!(slice.latency_ms[i] > 0)) continue;
    const auto [op, at] = asked(slice, cell_of(slice, i));
    const auto add = [&](const Tables& from, const ops::Op& there, const char* kind) {
      const auto found = bind_tables(from, there);
      if (!found.ok() || !*found || (*found)->least >= Source::borrowed) return false;
      const double floor = (*found)->floor_ms;
      const double scale = (floor + ops::roofline(op, at, system).value()) /
                           (floor + ops::roofline(there, at, system).value());
      const double ms = make_pricer(**found)->at(at).time.value() * scale;
      findings.kinds[fmt::format("{}|borrowed from {}", slice.op, kind)].push_back(
          std::abs(ms / static_cast<double>(slice.latency_ms[i]) - 1));
      return true;
    };
    const auto sisters = shape_sisters(tables, op);
    for (const ops::Op& sister : sisters.value()) {
      if (add(tables, sister, "another shape")) break;
    }
    for (const Tables* other : others) {
      if (add(*other, op, "another framework")) break;
    }
  }
  tables.put(slice.op, keys, full);
}

void gemm(Trial& t, std::size_t every) {
  const Axis& sites = t.slice().axes[0];
  const auto small = [](std::int64_t n, std::int64_t k) { return n <= 128 || k <= 128; };
  for (std::size_t i = every / 2; i < sites.size(); i += every) {
    const std::int64_t n = sites.coordinates[2 * i], k = sites.coordinates[2 * i + 1];
    const auto here = [=](const Cell& c) { return c[0][0] == n && c[0][1] == k; };
    for (const std::int64_t m : {48, 96, 160, 256, 768, 1536, 2304, 3328, 4096}) {
      t.run("pair left out in m",
            [=](const Cell& c) { return here(c) && (c[1][0] == m || c[1][0] == m + 1); });
    }
    t.run("shape left out", here, here, 5);
    t.run(
        "m > 1025 hidden", [=](const Cell& c) { return here(c) && c[1][0] > 1025; }, here, 5);
    t.run("m > 4353 hidden", [=](const Cell& c) { return here(c) && c[1][0] > 4353; });
  }
  const auto frontier = [](const Cell& c) { return c[0][0] >= 16384 || c[0][1] >= 16384; };
  t.run("n or k >= 16384 hidden", frontier, frontier, 97 * every);
  const auto tiny = [=](const Cell& c) { return small(c[0][0], c[0][1]); };
  t.run("n or k <= 128 hidden", tiny, tiny, 97 * every);
}

// Coordinates of one axis, ascending, that have enough points to be split.
void grid(Trial& t, const std::array<std::string, 3>& names) {
  for (std::size_t a = 0; a < 3; ++a) {
    std::vector<std::int64_t> xs = t.slice().axes[a].coordinates;
    if (xs.size() < 4) continue;
    const std::int64_t limit = xs.back() / 4, middle = xs[xs.size() / 2];
    const auto any = [](const Cell&) { return true; };
    t.run(
        names[a] + " left out", [=](const Cell& c) { return c[a][0] == middle; }, any, 29);
    t.run(
        names[a] + " last two octaves hidden", [=](const Cell& c) { return c[a][0] > limit; }, any,
        29);
  }
}

void moe(Trial& t, std::size_t every) {
  const Axis& sites = t.slice().axes[0];
  const auto site = [&](std::size_t i) {
    return std::vector<std::int64_t>(
        sites.coordinates.begin() + static_cast<std::ptrdiff_t>(6 * i),
        sites.coordinates.begin() + static_cast<std::ptrdiff_t>(6 * (i + 1)));
  };
  for (std::size_t i = every; i < sites.size(); i += 4 * every) {
    const auto s = site(i);
    const auto here = [=](const Cell& c) { return c[0] == s; };
    for (const std::int64_t m : {16, 128, 768, 3072}) {
      t.run("tokens left out", [=](const Cell& c) { return here(c) && c[1][0] == m; });
    }
    t.run("tokens > 4096 hidden", [=](const Cell& c) { return here(c) && c[1][0] > 4096; });
    t.run("tokens < 8 hidden", [=](const Cell& c) { return here(c) && c[1][0] < 8; });
    t.run("tp and ep left out", here, here, 4);
    const auto model = [=](const Cell& c) {
      return std::equal(s.begin(), s.begin() + 4, c[0].begin());
    };
    t.run("model left out", model, here, 4);
  }
}

void collective(Trial& t) {
  const auto& ranks = t.slice().axes[0].coordinates;
  const auto& sizes = t.slice().axes[1].coordinates;
  const std::int64_t low = sizes.front() * 4, high = sizes.back() / 4;
  for (std::size_t i = 2; i + 2 < sizes.size(); i += 3) {
    t.run("size left out", [=](const Cell& c) { return c[1][0] == sizes[i]; });
  }
  t.run("sizes below hidden", [=](const Cell& c) { return c[1][0] < low; });
  t.run("sizes above hidden", [=](const Cell& c) { return c[1][0] > high; });
  if (ranks.size() < 3) return;
  t.run("middle rank count left out", [=](const Cell& c) { return c[0][0] == ranks[1]; });
  t.run("last rank count hidden", [=](const Cell& c) { return c[0][0] == ranks.back(); });
}

// Skews between and beyond the collected ones: asks for `asked_skew` while the slices `hidden` are
// gone. The rival has the tables' own skews only and misses; its column shows what taking `nearest`
// instead would do.
struct SkewTrial {
  std::string name, asked_skew;
  std::vector<std::string> hidden;
  std::string nearest;
};
const std::vector<SkewTrial> kSkewTrials{
    {"alpha 1.01 left out", "power_law_1.01", {"power_law_1.01"}, "power_law_1.2"},
    {"alpha 1.2 hidden", "power_law_1.2", {"power_law_1.2"}, "power_law_1.01"},
    {"alpha 1.2 from balanced", "power_law_1.2", {"power_law_1.01", "power_law_1.2"}, "balanced"}};

void skew(Findings& findings, Tables& tables, const std::string& quant, const SkewTrial& trial,
          std::size_t every) {
  const auto whole = [&](const std::string& name) { return *tables.find("moe", {quant, name}); };
  const auto full = whole(trial.asked_skew);
  if (!full || !whole(trial.nearest) || !whole("balanced")) return;
  std::map<std::string, std::shared_ptr<const Slice>> kept;
  for (const std::string& name : trial.hidden) {
    kept[name] = whole(name);
    tables.put("moe", {quant, name}, nullptr);
  }
  const std::size_t xs = full->axes[1].size();
  for (std::size_t i = every; i < full->axes[0].size(); i += 3 * every) {
    auto op = std::get<ops::Moe>(asked(*full, cell_of(*full, i * xs)).op);
    const auto bound = bind_tables(tables, op);
    op.alpha = alpha_of(trial.nearest);
    const auto near = bind_tables(tables, op);
    if (!bound.ok() || !*bound || (*bound)->least >= Source::borrowed) continue;
    if (!near.ok() || !*near) continue;
    for (std::size_t x = i % 5; x < xs; x += 5) {
      const auto truth = static_cast<double>(full->latency_ms[i * xs + x]);
      if (!(truth > 0)) continue;
      const ops::Point at = asked(*full, cell_of(*full, i * xs + x)).at;
      const auto error = [&](const Priced& p) {
        return std::abs(make_pricer(p)->at(at).time.value() / truth - 1);
      };
      Errors& e = findings.rows["moe|" + trial.name];
      e.ours.push_back(error(**bound));
      e.rival.push_back(error(**near));
      ++e.rival_misses;
    }
  }
  for (const auto& [name, slice] : kept) tables.put("moe", {quant, name}, slice);
}

void try_table(Findings& errors, Tables& tables, const std::vector<const Tables*>& others,
               std::string_view op, std::size_t every) {
  const auto all = tables.keys(op);
  if (!all.ok()) return;
  const bool wide = op == "context_attention" || op == "generation_attention";
  std::vector<std::shared_ptr<const Slice>> slices;
  for (const Keys& keys : *all) slices.push_back(*tables.find(op, keys));
  for (std::size_t i = 0; i < all->size(); i += wide ? 2 * every : 1) {
    const auto& slice = slices[i];
    if (!slice || !ops::parse_quant(slice->keys.empty() ? "half" : (*all)[i][op == "nccl" ? 1 : 0]))
      continue;
    share(errors, *slice, tables.system(), 7 * every);
    if (op != "nccl") {
      borrow(errors, tables, others, *slice, (*all)[i], slice->latency_ms.size() / 8 + 1);
    }
    // The other format's messages would answer for the hidden ones.
    for (const Keys& twin : *all) {
      if (op == "nccl" && twin != (*all)[i]) tables.put(op, twin, nullptr);
    }
    Trial trial(errors, tables, *slice);
    if (op == "gemm") gemm(trial, 8 * every);
    if (op == "moe") moe(trial, 8 * every);
    if (op == "nccl" || op == "custom_allreduce") collective(trial);
    if (op == "generation_attention" || op == "generation_mla" || op == "mla_generation_module") {
      grid(trial, {"heads", "batch", "length"});
    }
    if (op == "context_attention" || op == "context_mla" || op == "mla_context_module") {
      grid(trial, {"heads", "length", "batch"});
    }
    for (std::size_t k = 0; k < all->size(); ++k) tables.put(op, (*all)[k], slices[k]);
  }
}

std::string figures(std::vector<double> e) {
  if (e.empty()) return "–";
  std::sort(e.begin(), e.end());
  double sum = 0;
  for (const double x : e) sum += x;
  const auto at = [&](double p) {
    return 100 * e[static_cast<std::size_t>(p * static_cast<double>(e.size() - 1))];
  };
  return fmt::format("{:.1f} / {:.1f} / {:.1f}", 100 * sum / static_cast<double>(e.size()), at(0.5),
                     at(0.95));
}

void print_more(std::string_view title, const std::map<std::string, std::vector<double>>& table) {
  fmt::print("\n| family | {} | points | mean / median / 95th |\n|---|---|---|---|\n", title);
  for (const auto& [name, e] : table) {
    const std::size_t bar = name.find('|');
    fmt::print("| {} | {} | {} | {} |\n", name.substr(0, bar), name.substr(bar + 1), e.size(),
               figures(e));
  }
}

int run(const std::string& file, std::size_t every) {
  auto opened = Store::open(file);
  if (!opened.ok()) {
    fmt::print(stderr, "{}\n", opened.error().text);
    return 3;
  }
  const auto store = std::make_shared<const Store>(std::move(*opened));
  Findings errors;
  const auto systems = store->systems();
  for (const std::string& name : systems.value()) {
    const hw::System system = *hw::find_system(name);
    bool collectives_done = false;
    for (const char* framework : {"trtllm", "sglang", "vllm"}) {
      const auto version = resolve_version(*store, name, framework, "");
      if (!version.ok() || version->version.empty()) continue;
      Tables tables(store, system, framework, version->version);
      std::vector<std::unique_ptr<const Tables>> elsewhere;
      std::vector<const Tables*> others;
      for (const char* other : {"sglang", "trtllm", "vllm"}) {
        const auto there = resolve_version(*store, name, other, "");
        if (other == std::string(framework) || !there.ok() || there->version.empty()) continue;
        elsewhere.push_back(std::make_unique<Tables>(store, system, other, there->version));
        others.push_back(elsewhere.back().get());
      }
      if (const auto fast = tables.keys("moe_low_latency"); fast.ok()) {
        for (const Keys& keys : fast.value()) tables.put("moe_low_latency", keys, nullptr);
      }
      for (const std::string_view op :
           {"gemm", "context_attention", "generation_attention", "context_mla", "generation_mla",
            "mla_context_module", "mla_generation_module", "moe", "custom_allreduce"}) {
        try_table(errors, tables, others, op, every);
      }
      if (!collectives_done) try_table(errors, tables, others, "nccl", every);
      collectives_done = true;
      for (const char* quant : {"bfloat16", "fp8", "fp8_block", "nvfp4"}) {
        for (const SkewTrial& trial : kSkewTrials) skew(errors, tables, quant, trial, every);
      }
    }
  }
  fmt::print(
      "| family | left out | points | rival | rival misses | ours |\n|---|---|---|---|---|---|\n");
  for (auto& [name, e] : errors.rows) {
    const std::size_t bar = name.find('|');
    fmt::print("| {} | {} | {} | {} | {} | {} |\n", name.substr(0, bar), name.substr(bar + 1),
               e.ours.size(), figures(e.rival), e.rival_misses, figures(e.ours));
  }
  print_more("error by source", errors.kinds);
  print_more("reached roofline", errors.shares);
  print_more("estimate's error", errors.estimates);
  print_more("roofline's error", errors.rooflines);
  return 0;
}

}  // namespace
}  // namespace setpoint::perfdb

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: leftout DATABASE [EVERY]\n");
    return 2;
  }
  const int every = argc > 2 ? std::atoi(argv[2]) : 4;
  return setpoint::perfdb::run(argv[1], static_cast<std::size_t>(std::max(1, every)));
}
