// SPDX-License-Identifier: Apache-2.0
#include "perfdb/tables.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace setpoint::perfdb {
namespace {

constexpr std::string_view kCollectives = "nccl";
constexpr std::string_view kOneCcl = "oneccl";  // Intel's library; its tables carry its own name

// Kernels that serving frameworks name in their own options; rows labelled otherwise come after.
// Source: AIConfigurator 0.12.0, attention kernel lanes.
constexpr std::array<std::string_view, 5> kNamedKernels{"fa3", "fla", "flashinfer", "triton",
                                                        "trtllm_mha"};
constexpr std::string_view kDefaultKernel = "default";

int label_rank(std::string_view kernel) {
  if (std::find(kNamedKernels.begin(), kNamedKernels.end(), kernel) != kNamedKernels.end()) {
    return 0;
  }
  return kernel == kDefaultKernel ? 1 : 2;
}

}  // namespace

Tables::Tables(std::shared_ptr<const Store> store, hw::System system, std::string framework,
               std::string version)
    : store_(std::move(store)),
      system_(std::move(system)),
      framework_(std::move(framework)),
      version_(std::move(version)) {}

Result<std::vector<OrderedSource>> Tables::sources_of(std::string_view op) const {
  if (op != kCollectives) return ordered_sources(*store_, system_.name, framework_, version_, op);
  SP_TRY(auto sources,
         ordered_sources(*store_, system_.name, kCollectives, system_.collective_version, op));
  SP_TRY(const auto all, store_->sources(system_.name, op));
  for (const SourceInfo& source : all) {
    if (source.provenance.framework == kOneCcl) sources.push_back({source, {}});
  }
  return sources;
}

// The framework's own default kernel first; then those of the version's own file, then those only
// other sources have; in each group by label (named, "default", other), by number of slices, by
// number of points, by name. A version without a known default asks "default" only, then whatever
// has the keys in alphabetical order. Source: AIConfigurator 0.12.0, attention kernel lanes.
Result<std::vector<std::string>> Tables::kernel_order(const Listing& family) const {
  struct Count {
    std::int64_t own = 0, all = 0, own_points = 0;
  };
  std::map<std::string, Count> counts;
  for (const Candidate& c : family.heads) {
    Count& count = counts[c.head.kernel];
    ++count.all;
    const Provenance& from = c.source->source.provenance;
    if (from.framework != framework_ || from.version != version_) continue;
    ++count.own;
    SP_TRY(const Slice slice, store_->read(c.source->source, c.head));
    count.own_points += std::count_if(slice.latency_ms.begin(), slice.latency_ms.end(),
                                      [](float ms) { return ms > 0; });
  }
  SP_TRY(const auto preferred, store_->default_lane(framework_, version_, system_.gpu.sm));
  const auto rank = [&](const std::string& kernel) {
    const Count& n = counts.at(kernel);
    if (!preferred) return std::tuple(kernel != kDefaultKernel, 0, 0, Count().own, Count().own);
    const bool pinned = kernel == *preferred && kernel != kDefaultKernel;
    return std::tuple(!pinned, n.own > 0 ? 0 : 1, label_rank(kernel), n.own > 0 ? -n.own : -n.all,
                      -n.own_points);
  };
  std::vector<std::string> order;
  for (const auto& [kernel, count] : counts) order.push_back(kernel);  // alphabetical
  std::stable_sort(order.begin(), order.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return order;
}

// Requires the lock.
Result<const Tables::Listing*> Tables::family(std::string_view op) const {
  if (const auto known = families_.find(op); known != families_.end()) return known->second.get();
  auto family = std::make_unique<Listing>();
  SP_TRY(const OpShape shape, store_->shape(op));
  SP_TRY(family->sources, sources_of(op));
  for (const OrderedSource& source : family->sources) {
    SP_TRY(const auto heads, store_->heads(source.source));
    for (const SliceHead& head : heads) {
      if (source.admits(head.kernel)) family->heads.push_back({&source, head});
    }
  }
  if (shape.kernel_is_key) {
    SP_TRY(family->kernels, kernel_order(*family));
  }
  return families_.emplace(op, std::move(family)).first->second.get();
}

Result<std::shared_ptr<const Slice>> Tables::read(const Listing& family, const Keys& keys) const {
  const auto merged = [&](const std::string* kernel) -> Result<std::shared_ptr<const Slice>> {
    std::vector<Slice> parts;
    for (const Candidate& c : family.heads) {
      if (c.head.keys != keys || (kernel != nullptr && c.head.kernel != *kernel)) continue;
      SP_TRY(Slice slice, store_->read(c.source->source, c.head));
      parts.push_back(std::move(slice));
    }
    if (parts.empty()) return std::shared_ptr<const Slice>();
    return std::make_shared<const Slice>(merge(parts));
  };
  if (family.kernels.empty()) return merged(nullptr);
  for (const std::string& kernel : family.kernels) {
    SP_TRY(auto slice, merged(&kernel));
    if (slice) return slice;
  }
  return std::shared_ptr<const Slice>();
}

Result<std::shared_ptr<const Slice>> Tables::find(std::string_view op, const Keys& keys) const {
  const std::lock_guard lock(mutex_);
  std::pair<std::string, Keys> name{op, keys};
  if (const auto known = slices_.find(name); known != slices_.end()) return known->second;
  SP_TRY(const Listing* tables, family(op));
  SP_TRY(auto slice, read(*tables, keys));
  slices_.emplace(std::move(name), slice);
  return slice;
}

void Tables::put(std::string_view op, const Keys& keys, std::shared_ptr<const Slice> slice) {
  const std::lock_guard lock(mutex_);
  slices_.insert_or_assign({std::string(op), keys}, std::move(slice));
}

Result<std::vector<Keys>> Tables::keys(std::string_view op) const {
  const std::lock_guard lock(mutex_);
  SP_TRY(const Listing* tables, family(op));
  std::vector<Keys> distinct;
  for (const Candidate& c : tables->heads) {
    const auto known = slices_.find({std::string(op), c.head.keys});
    if (known != slices_.end() && !known->second) continue;  // put away
    if (std::find(distinct.begin(), distinct.end(), c.head.keys) == distinct.end()) {
      distinct.push_back(c.head.keys);
    }
  }
  return distinct;
}

}  // namespace setpoint::perfdb
