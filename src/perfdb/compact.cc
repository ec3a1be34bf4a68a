// SPDX-License-Identifier: Apache-2.0
#include "perfdb/compact.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/embedded.h"
#include "ops/roofline.h"

namespace setpoint::perfdb {
namespace {

using compact::Key;
using compact::Set;
using compact::Term;

// What a step away from the asked set costs: the mean relative error of answering one table with
// another's set, over all pairs of tables of aiconfigurator-core 0.12.0 (docs/accuracy-compact.md,
// "Borrowed sets"; printed by fit_compact --report). Steps add up; the least sum is chosen.
constexpr double kOtherFramework = 0.54;
constexpr double kSameSm = 0.10;          // sister of the same compute capability
constexpr double kSameGeneration = 0.16;  // 10.0 for 10.3
constexpr double kOtherFormat = 0.97;     // of the same pipe, any width
constexpr double kOtherGate = 0.39;       // experts with a gate projection for those without
constexpr double kPerOctave = 0.45;       // of head size
constexpr double kOtherWindow = 0.29;
constexpr double kFullForWindow = 0.25;
// Between formats of one pipe the nearer width first; too small to matter otherwise.
constexpr double kNearestFirst = 1e-3;

// Parts of a key that multiply; part 1 (cache, gate, kind of collective) does not.
constexpr std::size_t kOtherPart = 1, kSizePart = 2, kWindowPart = 3;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_gate(std::string_view text) { return text == "gated" || text == "plain"; }

double format_distance(ops::Quant a, ops::Quant b) {
  return kOtherFormat + kNearestFirst * std::abs(std::log2(ops::bytes(a) / ops::bytes(b)));
}

double size_distance(double have, double want, std::size_t part) {
  const double octaves = have > 0 && want > 0 ? std::abs(std::log2(have / want)) : 1;
  if (part != kWindowPart) return kPerOctave * octaves;
  return (have == 0 ? kFullForWindow : kOtherWindow) + kNearestFirst * octaves;
}

// None: the two have nothing to do with each other.
std::optional<double> part_distance(const Key& have, const Key& want, std::size_t part) {
  if (have[part] == want[part]) return 0;
  const auto a = number(have[part]), b = number(want[part]);
  if (a && b && part >= kSizePart) return size_distance(*a, *b, part);
  if (is_gate(have[part]) && is_gate(want[part])) return kOtherGate;
  const auto qa = ops::parse_quant(have[part]), qb = ops::parse_quant(want[part]);
  if (!qa || !qb) return std::nullopt;
  const bool same_pipe = ops::info(*qa).pipe == ops::info(*qb).pipe;
  if (!same_pipe && part != kOtherPart) return std::nullopt;
  return format_distance(*qa, *qb);
}

std::optional<double> key_distance(const Key& have, const Key& want) {
  double sum = 0;
  for (std::size_t i = 0; i < have.size(); ++i) {
    const auto part = part_distance(have, want, i);
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

// Sisters: same compute capability, or the same major number.
std::optional<double> system_distance(const hw::System& have, const hw::System& want) {
  if (have.name == want.name) return 0;
  if (have.gpu.sm == 0 || have.gpu.sm / 10 != want.gpu.sm / 10) return std::nullopt;
  const double ratio = have.gpu.memory_bw / want.gpu.memory_bw;
  return (have.gpu.sm == want.gpu.sm ? kSameSm : kSameGeneration) +
         kNearestFirst * std::abs(std::log2(ratio));
}

struct Folded {
  Term term;
  std::vector<double> values;
};

// One term over the axes that points move, at the operator's place on the others.
Folded fold(const Term& term, const compact::Form& form, const compact::Coordinates& fixed,
            const std::int8_t* coefficients) {
  Folded folded;
  folded.term.gate = term.gate;
  const auto moved = [&](const compact::Axis& axis) {
    const compact::Moves& m = form.moves[axis.coordinate];
    return m.tokens || m.batch || m.seq;
  };
  for (const compact::Axis& axis : term.used()) {
    if (moved(axis)) folded.term.axes[folded.term.axis_count++] = axis;
  }
  folded.values.assign(folded.term.size(), 0);
  for (std::size_t i = 0; i < term.size(); ++i) {
    double weight = 1;
    std::size_t stride = term.size(), at = 0;
    for (const compact::Axis& axis : term.used()) {
      stride /= axis.knots;
      const std::size_t knot = i / stride % axis.knots;
      if (moved(axis)) {
        at = at * axis.knots + knot;
      } else {
        const double place = compact::knot_at(axis, fixed[axis.coordinate]);
        weight *= std::max(0.0, 1 - std::abs(place - static_cast<double>(knot)));
      }
    }
    folded.values[at] += weight * coefficients[i];
  }
  return folded;
}

}  // namespace

CompactModel::Bound::Bound(const Set& set, const hw::System& system, const ops::Op& op)
    : set_(&set),
      form_(&compact::forms()[set.family]),
      system_(system),
      op_(op),
      fixed_(compact::fixed_of(op)) {
  const std::int8_t* coefficients = set.coefficients.data();
  for (const Term& term : form_->terms) {
    Folded folded = fold(term, *form_, fixed_.part, coefficients);
    terms_.push_back(folded.term);
    for (const double v : folded.values) values_.push_back(v * set.scale);
    coefficients += term.size();
  }
}

Ms CompactModel::Bound::at(const ops::Point& point) const {
  double log_efficiency = set_->base;
  compact::for_each_hat(
      terms_, compact::coordinates(*form_, fixed_, point),
      [&](std::size_t i, double weight) { log_efficiency += weight * values_[i]; });
  return (Ms(set_->floor_ms) + ops::roofline(op_, point, system_)) / std::exp(log_efficiency);
}

const Result<CompactModel>& CompactModel::embedded() {
  static const Result<CompactModel> model = [] {
    const auto file = base::embedded_file("perfdb/compact.bin");
    if (!file) {
      return Result<CompactModel>(
          Error::environment("perfdb/compact.bin: not in this binary; build with the file there"));
    }
    return read(*file);
  }();
  return model;
}

Result<CompactModel> CompactModel::read(std::string_view bytes) {
  CompactModel model;
  SP_TRY(model.blob_, compact::decode(bytes));
  model.by_family_.resize(compact::forms().size());
  for (std::size_t i = 0; i < model.blob_.sets.size(); ++i) {
    const Set& set = model.blob_.sets[i];
    auto system = std::find_if(model.systems_.begin(), model.systems_.end(),
                               [&](const hw::System& s) { return s.name == set.system; });
    if (system == model.systems_.end()) {
      SP_TRY(hw::System found, hw::find_system(set.system));
      system = model.systems_.insert(system, std::move(found));
    }
    const auto index = static_cast<std::size_t>(system - model.systems_.begin());
    model.by_family_[set.family].push_back({i, index});
  }
  return model;
}

std::optional<CompactModel::Bound> CompactModel::bind(const hw::System& system,
                                                      std::string_view framework,
                                                      const ops::Op& op) const {
  const compact::Form* form = compact::find_form(ops::family(op));
  if (form == nullptr) return std::nullopt;
  const Key key = compact::key_of(op);
  const bool framework_matters = !std::holds_alternative<ops::Collective>(op);
  std::vector<std::optional<double>> to_system;
  for (const hw::System& s : systems_) to_system.push_back(system_distance(s, system));

  const Set* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Place& place : by_family_[static_cast<std::size_t>(form - compact::forms().data())]) {
    if (!to_system[place.system]) continue;
    const Set& set = blob_.sets[place.set];
    double far = *to_system[place.system];
    if (framework_matters && set.framework != framework) far += kOtherFramework;
    if (far >= least) continue;
    const auto of_key = key_distance(set.key, key);
    if (!of_key || far + *of_key >= least) continue;
    best = &set;
    least = far + *of_key;
  }
  if (best == nullptr) return std::nullopt;
  Bound bound(*best, system, op);
  bound.sigma_ = std::hypot(best->error, least);
  bound.borrowed_ = least > 0;
  return bound;
}

}  // namespace setpoint::perfdb
