// SPDX-License-Identifier: Apache-2.0
#include "perfdb/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "base/version.h"
#include "ops/roofline.h"
#include "perfdb/bind.h"
#include "perfdb/compact_pricer.h"
#include "perfdb/estimate.h"
#include "perfdb/sisters.h"
#include "perfdb/version.h"

namespace setpoint::perfdb {
namespace {

base::Version order(const std::string& version) {
  return base::parse_version(version).value_or(base::Version{});
}

// Collective libraries appear as frameworks in the store; they serve nothing.
bool serves(const std::string& framework) { return framework != "nccl" && framework != "oneccl"; }

// Kernels carry over between GPUs of one architecture only; a GPU whose compute capability is not
// known has no sister.
bool same_architecture(const hw::System& a, const hw::System& b) {
  return a.gpu.sm != 0 && a.gpu.sm / 10 == b.gpu.sm / 10;
}

// Between GPUs of one architecture: octaves of memory bandwidth and of bf16 peak.
double distance(const hw::System& a, const hw::System& b) {
  const double bw = std::log2(a.gpu.memory_bw.value() / b.gpu.memory_bw.value());
  const double peak = std::log2(a.gpu.peak[0].value() / b.gpu.peak[0].value());
  return std::hypot(bw, peak);
}

bool alone(const ops::Op& op) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.ranks; }) return o.ranks <= 1;
        return false;
      },
      op);
}

}  // namespace

Chain::Chain(std::shared_ptr<const Store> store, hw::System system, std::string framework,
             std::string version, DataMode mode)
    : store_(std::move(store)),
      system_(std::move(system)),
      framework_(std::move(framework)),
      version_(std::move(version)),
      mode_(mode) {
  if (store_) own_ = std::make_unique<Tables>(store_, system_, framework_, version_);
}

Result<Chain::Sisters> Chain::find_sisters() const {
  Sisters found;
  SP_TRY(const auto here, store_->sources(system_.name, ""));
  std::set<std::string> frameworks;
  std::vector<std::string> later;
  for (const SourceInfo& source : here) {
    const Provenance& from = source.provenance;
    if (serves(from.framework)) frameworks.insert(from.framework);
    if (from.framework == framework_ && order(version_) < order(from.version)) {
      later.push_back(from.version);
    }
  }
  std::sort(later.begin(), later.end(),
            [](const auto& a, const auto& b) { return order(a) < order(b); });
  later.erase(std::unique(later.begin(), later.end()), later.end());
  for (const std::string& version : later) {
    found.versions.push_back(std::make_unique<Tables>(store_, system_, framework_, version));
  }
  const auto add = [&](std::vector<std::unique_ptr<const Tables>>& to, const hw::System& system,
                       const std::string& framework) -> Result<void> {
    SP_TRY(const auto at, resolve_version(*store_, system.name, framework, ""));
    if (at.version.empty()) return {};
    to.push_back(std::make_unique<Tables>(store_, system, framework, at.version));
    return {};
  };
  for (const std::string& framework : frameworks) {
    if (framework != framework_) SP_CHECK(add(found.frameworks, system_, framework));
  }
  SP_TRY(const auto names, store_->systems());
  std::vector<hw::System> systems;
  for (const std::string& name : names) {
    const auto system = hw::find_system(name);
    if (system.ok() && name != system_.name && same_architecture(*system, system_)) {
      systems.push_back(*system);
    }
  }
  std::stable_sort(systems.begin(), systems.end(), [&](const auto& a, const auto& b) {
    return distance(a, system_) < distance(b, system_);
  });
  for (const hw::System& system : systems) {
    SP_TRY(const auto there, store_->sources(system.name, ""));
    std::set<std::string> all;
    for (const SourceInfo& source : there) {
      if (serves(source.provenance.framework)) all.insert(source.provenance.framework);
    }
    if (all.erase(framework_) > 0) SP_CHECK(add(found.systems, system, framework_));
    for (const std::string& framework : all) SP_CHECK(add(found.systems, system, framework));
  }
  return found;
}

Result<const Chain::Sisters*> Chain::sisters() const {
  const std::lock_guard lock(mutex_);
  if (!sisters_) {
    SP_TRY(Sisters found, find_sisters());
    sisters_ = std::make_unique<const Sisters>(std::move(found));
  }
  return sisters_.get();
}

Chain::Found Chain::brought(const Tables& tables, const ops::Op& there, const ops::Op& op) const {
  const hw::System& from = tables.system();
  if (!ops::supported(there, from).ok()) return std::optional<Priced>();
  SP_TRY(auto found, bind_tables(tables, there));
  if (!found) return found;
  found->least = Source::borrowed;
  const double floor = found->floor_ms;
  if (there != op || from.name != system_.name) {
    found->scale_by([&](const ops::Point& at) {
      return (floor + ops::roofline(op, at, system_).value()) /
             (floor + ops::roofline(there, at, from).value());
    });
  }
  return found;
}

Chain::Found Chain::first_of(const std::vector<std::unique_ptr<const Tables>>& tables,
                             const ops::Op& op) const {
  for (const auto& candidate : tables) {
    SP_TRY(auto found, brought(*candidate, op, op));
    if (found) return found;
  }
  return std::optional<Priced>();
}

Chain::Found Chain::borrow(const ops::Op& op) const {
  SP_TRY(const auto shapes, shape_sisters(*own_, op));
  for (const ops::Op& shape : shapes) {
    SP_TRY(auto found, brought(*own_, shape, op));
    if (found) return found;
  }
  SP_TRY(const Sisters* others, sisters());
  for (const auto* tables : {&others->versions, &others->frameworks}) {
    SP_TRY(auto found, first_of(*tables, op));
    if (found) return found;
  }
  for (const auto& formats : {format_twins(op), wide_formats(op)}) {
    for (const ops::Op& format : formats) {
      SP_TRY(auto found, brought(*own_, format, op));
      if (found) return found;
    }
  }
  return first_of(others->systems, op);
}

// A table known to measure something else than the kernel (a host-bound loop) would be passed over
// here in favour of a sister's; none is so marked yet (docs/accuracy.md, "Suspect tables").
Chain::Found Chain::from_tables(const ops::Op& op) const {
  if (!own_) return std::optional<Priced>();
  SP_TRY(auto found, bind_tables(*own_, op));
  const bool own_rows = found && found->least < Source::borrowed;
  if (mode_ == DataMode::measured && !own_rows) return std::optional<Priced>();
  if (found) return found;
  return borrow(op);
}

Error Chain::missing(const ops::Op& op) const {
  std::string table = fmt::format("{} of {} {}", ops::family(op), system_.name, framework_);
  if (!version_.empty()) table += " " + version_;
  const std::string keys = base::join(table_keys(op), ", ");
  return Error::bad_input(
      fmt::format("no measured rows: table {} {}; hybrid mode would estimate it", table,
                  keys.empty() ? "is absent" : "lacks key [" + keys + "]"));
}

Result<BoundOp> Chain::bind(const ops::Op& op) const {
  SP_CHECK(ops::supported(op, system_));
  if (mode_ == DataMode::roofline) return BoundOp(roofline_pricer(op, system_));
  if (is_analytic(op) || alone(op)) return BoundOp(estimate_pricer(op, system_));
  SP_TRY(auto found, from_tables(op));
  if (found) return BoundOp(make_pricer(std::move(*found)));
  if (mode_ == DataMode::measured) return missing(op);
  if (auto compact = compact_pricer(op, system_, framework_)) return BoundOp(std::move(compact));
  return BoundOp(estimate_pricer(op, system_));
}

}  // namespace setpoint::perfdb
