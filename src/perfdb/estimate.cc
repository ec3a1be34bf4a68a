// SPDX-License-Identifier: Apache-2.0
#include "perfdb/estimate.h"

#include <array>

#include "ops/roofline.h"

namespace setpoint::perfdb {
namespace {

// Reached share of the roofline by width of the stored element and pipe, and what a kernel costs
// besides. Origin of the GEMM and expert rows: utilisation priors of AIConfigurator 0.12.0.
struct Share {
  double bytes;
  ops::Pipe pipe;
  double gemm, experts;
};
constexpr std::array kShares{
    Share{2, ops::Pipe::bf16, 0.70, 0.53},      Share{1, ops::Pipe::bf16, 0.55, 0.45},
    Share{0.5625, ops::Pipe::bf16, 0.45, 0.07}, Share{0.5, ops::Pipe::bf16, 0.45, 0.07},
    Share{1, ops::Pipe::fp8, 0.45, 0.40},       Share{0.5, ops::Pipe::fp8, 0.35, 0.15},
    Share{0.5625, ops::Pipe::fp4, 0.30, 0.23},  Share{1, ops::Pipe::int8, 0.45, 0.40},
};
constexpr double kAttentionShare = 0.5, kLinkShare = 0.7;
constexpr double kSigma = 0.6;

const Share& share_of(ops::Quant quant) {
  const ops::QuantInfo& q = ops::info(quant);
  for (const Share& s : kShares) {
    if (s.bytes == q.bytes && s.pipe == q.pipe) return s;
  }
  return kShares.front();
}

struct Cost {
  double share = 1;  // of the roofline
  Ms plus{};
};

struct CostOf {
  const hw::System& system;
  Cost operator()(const ops::Gemm& o) const { return {share_of(o.quant).gemm, launch()}; }
  Cost operator()(const ops::Moe& o) const { return {share_of(o.quant).experts, launch() * 2}; }
  Cost operator()(const ops::CustomAllReduce& o) const { return link(o.ranks); }
  Cost operator()(const ops::Collective& o) const { return link(o.ranks); }
  Cost operator()(const ops::P2p&) const { return {1, system.node.p2p_latency}; }
  Cost operator()(const ops::Elementwise&) const { return copy(); }
  Cost operator()(const ops::Embedding&) const { return copy(); }
  template <class Attention>
  Cost operator()(const Attention&) const {
    return {kAttentionShare, launch()};
  }

 private:
  Ms launch() const { return system.gpu.launch; }
  Cost copy() const { return {system.gpu.memory_efficiency, launch()}; }
  Cost link(std::int64_t ranks) const {
    if (ranks <= 1) return {};
    return {kLinkShare, system.node.p2p_latency};
  }
};

class RooflinePricer final : public BoundOp::Pricer {
 public:
  RooflinePricer(const ops::Op& op, const hw::System& system, Cost cost, double sigma)
      : op_(op), system_(system), cost_(cost), sigma_(sigma) {}
  Answer at(const ops::Point& point) const override {
    return {ops::roofline(op_, point, system_) / cost_.share + cost_.plus, Source::roofline,
            sigma_};
  }

 private:
  ops::Op op_;
  hw::System system_;
  Cost cost_;
  double sigma_;
};

}  // namespace

std::shared_ptr<const BoundOp::Pricer> roofline_pricer(const ops::Op& op,
                                                       const hw::System& system) {
  return std::make_shared<RooflinePricer>(op, system, Cost{}, kSigma);
}

std::shared_ptr<const BoundOp::Pricer> estimate_pricer(const ops::Op& op,
                                                       const hw::System& system) {
  return std::make_shared<RooflinePricer>(op, system, std::visit(CostOf{system}, op), kSigma);
}

bool is_analytic(const ops::Op& op) {
  return std::holds_alternative<ops::P2p>(op) || std::holds_alternative<ops::Elementwise>(op) ||
         std::holds_alternative<ops::Embedding>(op);
}

}  // namespace setpoint::perfdb
