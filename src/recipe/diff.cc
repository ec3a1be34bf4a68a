// SPDX-License-Identifier: Apache-2.0
#include "recipe/diff.h"

#include "recipe/canonical.h"

namespace setpoint::recipe {
namespace {

// Two sorted maps side by side.
template <class Map>
void compare(const Map& base, const Map& candidate, const std::string& prefix,
             std::vector<Difference>& out) {
  auto a = base.begin(), b = candidate.begin();
  while (a != base.end() || b != candidate.end()) {
    const bool left = b == candidate.end() || (a != base.end() && a->first <= b->first);
    const bool right = a == base.end() || (b != candidate.end() && b->first <= a->first);
    if (!(left && right && a->second == b->second)) {
      Difference difference{prefix + (left ? a->first : b->first), {}, {}};
      if (left) difference.base = a->second;
      if (right) difference.candidate = b->second;
      out.push_back(std::move(difference));
    }
    if (left) ++a;
    if (right) ++b;
  }
}

std::map<std::string, base::Json> by_content(const FinalValues& own, const FinalValues& other) {
  std::map<std::string, base::Json> out = own.parameters;
  for (auto& [name, value] : out) {
    const auto mine = own.facts.find("content." + name);
    if (mine != own.facts.end() && other.facts.contains("content." + name)) value = mine->second;
  }
  return out;
}

}  // namespace

std::vector<Difference> diff(const FinalValues& base, const FinalValues& candidate) {
  const FinalValues a = canonical(base), b = canonical(candidate);
  std::vector<Difference> out;
  compare(by_content(a, b), by_content(b, a), "", out);
  compare(a.environment, b.environment, "env.", out);
  return out;
}

}  // namespace setpoint::recipe
