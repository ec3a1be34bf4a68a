// SPDX-License-Identifier: Apache-2.0
#include "perfdb/perfdb.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "perfdb/chain.h"
#include "perfdb/locate.h"
#include "perfdb/pricer.h"
#include "perfdb/version.h"

namespace setpoint::perfdb {

struct PerfDb::Impl {
  Request request;
  ResolvedVersion version;
  bool has_tables = false, borrows = false;
  std::unique_ptr<const Chain> chain;
  // A search binds the same operators for many layouts; each is bound once.
  mutable std::mutex mutex;
  mutable std::array<std::vector<std::pair<ops::Op, BoundOp>>, std::variant_size_v<ops::Op>> bound;

  std::optional<BoundOp> known(const ops::Op& op) const {
    const std::lock_guard lock(mutex);
    for (const auto& [known, as] : bound[op.index()]) {
      if (known == op) return as;
    }
    return std::nullopt;
  }
};

PerfDb::PerfDb(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PerfDb::PerfDb(PerfDb&&) noexcept = default;
PerfDb& PerfDb::operator=(PerfDb&&) noexcept = default;
PerfDb::~PerfDb() = default;

Result<PerfDb> PerfDb::open(const Request& request) {
  auto impl = std::make_unique<Impl>();
  impl->request = request;
  impl->version.version = request.version;
  std::shared_ptr<const Store> store;
  const auto file = request.file.empty() ? find_database() : std::optional(request.file);
  if (file) {
    SP_TRY(Store opened, Store::open(*file));
    store = std::make_shared<const Store>(std::move(opened));
    SP_TRY(impl->version,
           resolve_version(*store, request.system.name, request.framework, request.version));
    if (impl->version.version.empty()) impl->version = {request.version, std::nullopt};
    SP_TRY(const auto sources, store->sources(request.system.name, ""));
    impl->has_tables = std::any_of(sources.begin(), sources.end(), [&](const SourceInfo& source) {
      return source.provenance.framework == request.framework;
    });
    impl->borrows = !impl->has_tables;
  }
  impl->chain = std::make_unique<const Chain>(store, request.system, request.framework,
                                              impl->version.version, request.mode);
  return PerfDb(std::move(impl));
}

Result<BoundOp> PerfDb::bind(const ops::Op& op) const {
  if (auto known = impl_->known(op)) return std::move(*known);
  SP_TRY(BoundOp bound, impl_->chain->bind(op));
  const std::lock_guard lock(impl_->mutex);
  impl_->bound[op.index()].emplace_back(op, bound);
  return bound;
}

Answer BoundOp::at(const ops::Point& point) const { return pricer_->at(point); }

const hw::System& PerfDb::system() const { return impl_->request.system; }
const std::string& PerfDb::framework() const { return impl_->request.framework; }
const std::string& PerfDb::version() const { return impl_->version.version; }
const std::optional<std::string>& PerfDb::asked() const { return impl_->version.asked; }
bool PerfDb::has_tables() const { return impl_->has_tables; }
bool PerfDb::borrows() const { return impl_->borrows; }
DataMode PerfDb::mode() const { return impl_->request.mode; }

}  // namespace setpoint::perfdb
