// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/quant.h"
#include "perfdb/answer.h"

namespace setpoint::report {
namespace {

constexpr std::array<std::string_view, 8> kInkCodes{"0", "1", "2", "32", "33", "31", "36", "35"};
constexpr int kFieldColumn = 13;
constexpr double kLongMs = 10'000;  // from here on seconds read better

int decimals_for(double largest) {
  if (largest >= 1000) return 0;
  return largest >= 10 ? 1 : 2;
}

}  // namespace

std::string paint(const Screen& screen, Ink ink, std::string_view text) {
  if (!screen.colour || ink == Ink::plain) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", kInkCodes[static_cast<std::size_t>(ink)], text);
}

std::string number(double value) {
  if (std::fabs(value) >= 1000 && std::fabs(value) < 1e15)
    return base::grouped(std::llround(value));
  return fmt::format("{:.{}f}", value, decimals_for(std::fabs(value)));
}

std::vector<std::string> numbers(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  std::vector<std::string> out;
  for (const double value : values) {
    out.push_back(std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals_for(largest))
                                       : "n/a");
  }
  return out;
}

std::string milliseconds(Ms value) {
  if (value.value() >= kLongMs) return number(value.value() / kMsPerS) + " s";
  return number(value.value()) + " ms";
}

std::string evidence(const std::array<double, 6>& shares) {
  constexpr double kLeastShown = 0.005;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] >= kLeastShown) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  std::string out;
  for (const std::size_t i : order) {
    out += fmt::format("{}{:.0f} % {}", out.empty() ? "" : ", ", shares[i] * 100,
                       perfdb::kSourceNames[i]);
  }
  return out.empty() ? "none" : out;
}

double percent_in_tables(const std::array<double, 6>& shares) {
  return 100 * (shares[static_cast<std::size_t>(perfdb::Source::measured)] +
                shares[static_cast<std::size_t>(perfdb::Source::interpolated)]);
}

std::string formats(const model::Precision& p, bool moe) {
  std::string out = fmt::format("gemm {}, kv {}", ops::name(p.gemm), ops::name(p.kv));
  const model::Precision plain;
  if (moe && p.moe != plain.moe) out += fmt::format(", moe {}", ops::name(p.moe));
  if (p.fmha != plain.fmha) out += fmt::format(", fmha {}", ops::name(p.fmha));
  if (p.comm != plain.comm) out += fmt::format(", comm {}", ops::name(p.comm));
  return out;
}

std::string wrapped(std::string_view text, int columns, int indent) {
  const auto width = static_cast<std::size_t>(std::max(columns - indent, 20));
  std::string out;
  while (!text.empty()) {
    std::size_t length = text.size();
    if (length > width) {
      const std::size_t space = text.rfind(' ', width);
      length = space == std::string_view::npos || space == 0 ? width : space;
    }
    const std::size_t end = text.find_last_not_of(' ', length - 1) + 1;  // 0: blanks only
    out.append(static_cast<std::size_t>(indent), ' ').append(text.substr(0, end)) += '\n';
    text.remove_prefix(length);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return out;
}

std::string field(const Screen& screen, std::string_view name, std::string_view text) {
  std::string out = wrapped(text, screen.columns, kFieldColumn);
  if (out.empty()) out = std::string(kFieldColumn, ' ') + "\n";
  const std::string label = fmt::format("  {:<{}}", name, kFieldColumn - 2);
  return paint(screen, Ink::dim, label) + out.substr(kFieldColumn);
}

}  // namespace setpoint::report
