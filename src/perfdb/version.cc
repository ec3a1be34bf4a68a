// SPDX-License-Identifier: Apache-2.0
#include "perfdb/version.h"

#include <algorithm>
#include <vector>

#include "base/version.h"

namespace setpoint::perfdb {
namespace {

// Every deployment multiplies matrices: a version without this table was never fully collected.
constexpr std::string_view kEssential = "gemm";

base::Version order(const std::string& version) {
  return base::parse_version(version).value_or(base::Version{});
}

bool is_development(const std::string& version) {
  return order(version).stage == base::Version::Stage::dev;
}

Result<std::vector<std::string>> complete_versions(const Store& store, const std::string& system,
                                                   const std::string& framework) {
  SP_TRY(const auto sources, store.sources(system, kEssential));
  std::vector<std::string> versions;
  for (const SourceInfo& source : sources) {
    const Provenance& from = source.provenance;
    if (from.framework == framework && !is_development(from.version)) {
      versions.push_back(from.version);
    }
  }
  std::sort(versions.begin(), versions.end(),
            [](const std::string& a, const std::string& b) { return order(a) < order(b); });
  return versions;
}

std::string slot_version(const VersionSlots& slots, const std::string& asked) {
  if (asked.empty() || asked == "current") return slots.current;
  if (asked == "previous") return slots.previous;
  if (asked == "next") return slots.next;
  for (const std::string& literal : {slots.current, slots.previous, slots.next}) {
    if (literal == asked) return literal;
  }
  return "";
}

}  // namespace

Result<ResolvedVersion> resolve_version(const Store& store, const std::string& system,
                                        const std::string& framework, const std::string& asked) {
  SP_TRY(const auto slots, store.slots(system, framework));
  if (slots) {
    if (const std::string version = slot_version(*slots, asked); !version.empty()) {
      return ResolvedVersion{version, std::nullopt};
    }
  }
  SP_TRY(const auto versions, complete_versions(store, system, framework));
  const std::optional<std::string> said = asked.empty() ? std::nullopt : std::optional(asked);
  if (versions.empty()) return ResolvedVersion{"", said};
  if (std::find(versions.begin(), versions.end(), asked) != versions.end()) {
    return ResolvedVersion{asked, std::nullopt};
  }
  if (asked.empty()) return ResolvedVersion{versions.back(), std::nullopt};
  const auto later = std::find_if(versions.begin(), versions.end(),
                                  [&](const std::string& v) { return order(asked) < order(v); });
  return ResolvedVersion{later == versions.begin() ? *later : *(later - 1), said};
}

}  // namespace setpoint::perfdb
