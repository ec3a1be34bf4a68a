// SPDX-License-Identifier: Apache-2.0
#include "perfdb/perfdb.h"

#include "ops/roofline.h"
#include "perfdb/pricer.h"

namespace setpoint::perfdb {
namespace {

// Speed of light.
class RooflinePricer final : public BoundOp::Pricer {
 public:
  RooflinePricer(const ops::Op& op, const hw::System& system) : op_(op), system_(system) {}
  Answer at(const ops::Point& point) const override {
    return {ops::roofline(op_, point, system_), Source::roofline, 0};
  }

 private:
  ops::Op op_;
  hw::System system_;
};

}  // namespace

struct PerfDb::Impl {
  Request request;
  std::optional<std::string> asked;
};

PerfDb::PerfDb(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PerfDb::PerfDb(PerfDb&&) noexcept = default;
PerfDb& PerfDb::operator=(PerfDb&&) noexcept = default;
PerfDb::~PerfDb() = default;

Result<PerfDb> PerfDb::open(const Request& request) {
  return PerfDb(std::make_unique<Impl>(Impl{request, std::nullopt}));
}

Result<BoundOp> PerfDb::bind(const ops::Op& op) const {
  SP_CHECK(ops::supported(op, system()));
  return BoundOp(std::make_shared<RooflinePricer>(op, system()));
}

Answer BoundOp::at(const ops::Point& point) const { return pricer_->at(point); }

const hw::System& PerfDb::system() const { return impl_->request.system; }
const std::string& PerfDb::framework() const { return impl_->request.framework; }
const std::string& PerfDb::version() const { return impl_->request.version; }
const std::optional<std::string>& PerfDb::asked() const { return impl_->asked; }
bool PerfDb::has_tables() const { return false; }
DataMode PerfDb::mode() const { return impl_->request.mode; }

}  // namespace setpoint::perfdb
