// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace setpoint::base {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const int first = number < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string count_of(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::pair<std::string, std::optional<std::string>> split_pair(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::string> nearest(std::string_view wrong, std::span<const std::string> known,
                                 std::size_t most) {
  constexpr std::size_t kLongestCompared = 200;  // hostile input must not cost quadratic time
  const std::string target = lower(wrong.substr(0, kLongestCompared));
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : known) {
    const std::string candidate = lower(name);
    const bool contains = !target.empty() && candidate.find(target) != std::string::npos;
    ranked.emplace_back(contains ? 0 : edit_distance(target, candidate), name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranked.size() > most) ranked.resize(most);
  std::vector<std::string> names;
  for (auto& [distance, name] : ranked) names.push_back(std::move(name));
  return names;
}

std::string unknown_name(std::string_view what, std::string_view wrong,
                         std::span<const std::string> known) {
  constexpr std::size_t kLongestShown = 80;
  return fmt::format("unknown {} \"{}\": nearest known: {}", what, wrong.substr(0, kLongestShown),
                     join(nearest(wrong, known)));
}

}  // namespace setpoint::base
