// SPDX-License-Identifier: Apache-2.0
// Which tables answer for a version, best first.
#include <algorithm>
#include <map>

#include "base/version.h"
#include "perfdb/store.h"

namespace setpoint::perfdb {
namespace {

constexpr std::string_view kCollectives = "nccl";
// Tables of a framework's own communication: another framework's never stand in.
constexpr std::string_view kCommunication[] = {"custom_allreduce", "moe_a2a"};

bool newer(const std::string& a, const std::string& b) {
  return base::parse_version(a).value_or(base::Version{}) >
         base::parse_version(b).value_or(base::Version{});
}

struct Collector {
  const std::vector<SourceInfo>& all;
  std::vector<OrderedSource> ordered;

  void add(std::string_view framework, std::string_view version,
           const std::vector<std::string>& kernels) {
    for (const SourceInfo& source : all) {
      const Provenance& from = source.provenance;
      if (from.framework != framework || from.version != version) continue;
      const bool taken = std::any_of(ordered.begin(), ordered.end(), [&](const OrderedSource& o) {
        return o.source.id == source.id;
      });
      if (!taken) ordered.push_back({source, kernels});
    }
  }
  // Newest first; only those strictly before `before` unless it is empty.
  std::vector<std::string> versions(std::string_view framework, const std::string& before) const {
    std::vector<std::string> found;
    for (const SourceInfo& source : all) {
      const Provenance& from = source.provenance;
      if (from.framework != framework) continue;
      if (!before.empty() && !newer(before, from.version)) continue;
      if (std::find(found.begin(), found.end(), from.version) == found.end()) {
        found.push_back(from.version);
      }
    }
    std::sort(found.begin(), found.end(), newer);
    return found;
  }
};

// What every other framework may lend to `framework`, by lender.
Result<std::map<std::string, std::vector<std::string>>> lenders(const Store& store,
                                                                std::string_view framework,
                                                                std::string_view op) {
  std::map<std::string, std::vector<std::string>> kernels;
  SP_TRY(const std::vector<FillGroup> groups, store.fill_groups(op));
  for (const FillGroup& group : groups) {
    const auto& members = group.frameworks;
    if (std::find(members.begin(), members.end(), framework) == members.end()) continue;
    for (const std::string& lender : members) {
      if (lender != framework) kernels[lender].push_back(group.kernel);
    }
  }
  return kernels;
}

}  // namespace

bool OrderedSource::admits(std::string_view kernel) const {
  return kernels.empty() || std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
}

Result<std::vector<OrderedSource>> ordered_sources(const Store& store, std::string_view system,
                                                   std::string_view framework,
                                                   std::string_view version, std::string_view op) {
  SP_TRY(const std::vector<SourceInfo> all, store.sources(system, op));
  Collector collect{all, {}};
  collect.add(framework, version, {});
  if (op == kCollectives) return collect.ordered;
  SP_TRY(const std::vector<std::string> reused, store.reuse(system, framework, version, op));
  for (const std::string& from : reused) collect.add(framework, from, {});
  for (const std::string& earlier : collect.versions(framework, std::string(version))) {
    collect.add(framework, earlier, {});
  }
  if (std::find(std::begin(kCommunication), std::end(kCommunication), op) !=
      std::end(kCommunication)) {
    return collect.ordered;
  }
  SP_TRY(const auto by_lender, lenders(store, framework, op));
  for (const auto& [lender, kernels] : by_lender) {
    for (const std::string& any : collect.versions(lender, "")) collect.add(lender, any, kernels);
  }
  return collect.ordered;
}

}  // namespace setpoint::perfdb
