// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hw/system.h"
#include "ops/quant.h"

namespace setpoint::tools {
namespace {

using perfdb::compact::forms;
using perfdb::compact::Set;

constexpr std::size_t kProbes = 300;      // samples of a table that borrowing is tried on
constexpr std::size_t kSetOverhead = 14;  // bytes of a set besides its coefficients

double predict(const Set& set, const Sample& s) {
  return (set.floor_ms + s.roofline_ms) / std::exp(perfdb::compact::value(set, s.x));
}

double error_of(double predicted, double measured) { return std::abs(predicted / measured - 1); }

double quantile(std::vector<float> v, double q) {
  if (v.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(v.size() - 1));
  std::nth_element(v.begin(), v.begin() + at, v.end());
  return v[static_cast<std::size_t>(at)];
}

double mean(const std::vector<float>& v) {
  double sum = 0;
  for (const float x : v) sum += x;
  return v.empty() ? 0 : sum / static_cast<double>(v.size());
}

double percent(double share) { return 100 * share; }

// The ways one set may stand in for another; each is tried alone.
struct Step {
  std::string_view name;
  bool (*taken)(const Set& from, int from_sm, const Set& to, int to_sm);
};

std::size_t parts_that_differ(const Set& a, const Set& b) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < a.key.size(); ++i) n += a.key[i] != b.key[i] ? 1 : 0;
  return n;
}

bool same_place(const Set& a, const Set& b) {
  return a.system == b.system && a.framework == b.framework;
}

bool formats(const Set& a, const Set& b, bool same_width) {
  if (!same_place(a, b) || parts_that_differ(a, b) != 1) return false;
  for (std::size_t i = 0; i < a.key.size(); ++i) {
    const auto qa = ops::parse_quant(a.key[i]), qb = ops::parse_quant(b.key[i]);
    if (a.key[i] == b.key[i] || !qa || !qb) continue;
    return ops::info(*qa).pipe == ops::info(*qb).pipe &&
           (ops::bytes(*qa) == ops::bytes(*qb)) == same_width;
  }
  return false;
}

bool is_gate(const std::string& part) { return part == "gated" || part == "plain"; }

// Head size and window stand in parts 2 and 3 of the attention keys.
bool next_head_size(const Set& a, const Set& b) {
  if (!same_place(a, b) || parts_that_differ(a, b) != 1 || a.key[2] == b.key[2]) return false;
  const double x = std::atof(a.key[2].c_str()), y = std::atof(b.key[2].c_str());
  return x > 0 && y > 0 && std::abs(std::log2(x / y)) <= 1;
}

bool another_window(const Set& a, const Set& b) {
  return same_place(a, b) && parts_that_differ(a, b) == 1 && a.key[3] != b.key[3] &&
         forms()[a.family].family.ends_with("_attention");
}

constexpr std::array kSteps{
    Step{"other framework, same system",
         [](const Set& a, int, const Set& b, int) {
           return a.system == b.system && a.framework != b.framework && a.key == b.key;
         }},
    Step{"sister of the same compute capability",
         [](const Set& a, int sa, const Set& b, int sb) {
           return a.system != b.system && sa == sb && a.framework == b.framework && a.key == b.key;
         }},
    Step{"sister of the same generation",
         [](const Set& a, int sa, const Set& b, int sb) {
           return a.system != b.system && sa != sb && sa / 10 == sb / 10 && sa > 0 &&
                  a.framework == b.framework && a.key == b.key;
         }},
    Step{"format of the same width and pipe",
         [](const Set& a, int, const Set& b, int) { return formats(a, b, true); }},
    Step{"format of another width, same pipe",
         [](const Set& a, int, const Set& b, int) { return formats(a, b, false); }},
    Step{"experts with a gate for those without, or back",
         [](const Set& a, int, const Set& b, int) {
           return same_place(a, b) && parts_that_differ(a, b) == 1 && a.key[1] != b.key[1] &&
                  is_gate(a.key[1]) && is_gate(b.key[1]);
         }},
    Step{"head size one octave away",
         [](const Set& a, int, const Set& b, int) { return next_head_size(a, b); }},
    Step{"another window",
         [](const Set& a, int, const Set& b, int) {
           return another_window(a, b) && a.key[3] != "0" && b.key[3] != "0";
         }},
    Step{"full attention for a window",
         [](const Set& a, int, const Set& b, int) {
           return another_window(a, b) && a.key[3] == "0";
         }},
};

}  // namespace

Report::Report(const FitRules& rules) : rules_(rules), families_(perfdb::compact::forms().size()) {}

double Report::score(const Set& set, const Table& table) {
  Family& family = families_[set.family];
  Mean fitted, unfitted;
  std::vector<float> errors, efficiencies;
  for (std::size_t i = 0; i < table.samples.size(); ++i) {
    const Sample& s = table.samples[i];
    const double error = error_of(predict(set, s), s.time_ms);
    errors.push_back(static_cast<float>(error));
    efficiencies.push_back(static_cast<float>((set.floor_ms + s.roofline_ms) / s.time_ms));
    (is_fitted(i, table.samples.size(), rules_) ? fitted : unfitted).add(error);
  }
  // Both halves of a table count alike, however many rows each has.
  family.fitted.add(fitted.value(), unfitted.count);
  family.unfitted.add(unfitted.value(), unfitted.count);
  const double constant = quantile(efficiencies, 0.5);
  for (const Sample& s : table.samples) {
    family.constant_sum += error_of((set.floor_ms + s.roofline_ms) / constant, s.time_ms);
  }
  family.errors.insert(family.errors.end(), errors.begin(), errors.end());
  ++family.sets;
  family.bytes += set.coefficients.size() + kSetOverhead;

  Probe probe{set, {}, 0};
  if (const auto system = hw::find_system(set.system)) probe.sm = system->gpu.sm;
  const std::size_t step = std::max<std::size_t>(1, table.samples.size() / kProbes);
  for (std::size_t i = 0; i < table.samples.size(); i += step) {
    probe.samples.push_back(table.samples[i]);
  }
  probes_.push_back(std::move(probe));
  return mean(errors);
}

std::string Report::families() const {
  std::string text =
      "| family | rows | tables | kB | mean | median | p95 | large tables: rows fitted / not | one "
      "constant "
      "per table |\n|---|---|---|---|---|---|---|---|---|\n";
  std::size_t rows = 0, sets = 0, bytes = 0;
  for (std::size_t i = 0; i < families_.size(); ++i) {
    const Family& f = families_[i];
    if (f.errors.empty()) continue;
    const std::string unfitted = f.unfitted.count == 0
                                     ? std::string("–")
                                     : fmt::format("{:.1f} / {:.1f}", percent(f.fitted.value()),
                                                   percent(f.unfitted.value()));
    text += fmt::format("| {} | {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {} | {:.1f} |\n",
                        forms()[i].family, f.errors.size(), f.sets,
                        static_cast<double>(f.bytes) / 1000, percent(mean(f.errors)),
                        percent(quantile(f.errors, 0.5)), percent(quantile(f.errors, 0.95)),
                        unfitted, percent(f.constant_sum / static_cast<double>(f.errors.size())));
    rows += f.errors.size();
    sets += f.sets;
    bytes += f.bytes;
  }
  return text + fmt::format("| all | {} | {} | {:.1f} | | | | | |\n", rows, sets,
                            static_cast<double>(bytes) / 1000);
}

std::string Report::borrowing() const {
  std::string text = "| set of | pairs | mean | median | p95 |\n|---|---|---|---|---|\n";
  for (const Step& step : kSteps) {
    std::vector<float> errors;
    std::size_t pairs = 0;
    for (const Probe& from : probes_) {
      for (const Probe& to : probes_) {
        if (from.set.family != to.set.family || !step.taken(from.set, from.sm, to.set, to.sm)) {
          continue;
        }
        ++pairs;
        for (const Sample& s : to.samples) {
          errors.push_back(static_cast<float>(error_of(predict(from.set, s), s.time_ms)));
        }
      }
    }
    text += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.1f} |\n", step.name, pairs,
                        percent(mean(errors)), percent(quantile(errors, 0.5)),
                        percent(quantile(errors, 0.95)));
  }
  return text;
}

}  // namespace setpoint::tools
