// SPDX-License-Identifier: Apache-2.0
#include "perfdb/compact_pricer.h"

#include "perfdb/compact.h"

namespace setpoint::perfdb {
namespace {

class CompactPricer final : public BoundOp::Pricer {
 public:
  explicit CompactPricer(CompactModel::Bound bound) : bound_(std::move(bound)) {}
  Answer at(const ops::Point& point) const override {
    return {bound_.at(point), Source::compact, bound_.sigma()};
  }

 private:
  CompactModel::Bound bound_;
};

}  // namespace

std::shared_ptr<const BoundOp::Pricer> compact_pricer(const ops::Op& op, const hw::System& system,
                                                      std::string_view framework) {
  const Result<CompactModel>& model = CompactModel::embedded();
  if (!model.ok()) return nullptr;
  auto bound = model->bind(system, framework, op);
  return bound ? std::make_shared<CompactPricer>(std::move(*bound)) : nullptr;
}

}  // namespace setpoint::perfdb
