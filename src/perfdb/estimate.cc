// SPDX-License-Identifier: Apache-2.0
#include "perfdb/estimate.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ops/roofline.h"

namespace setpoint::perfdb {
namespace {

// Median share of the roofline that is reached once the launch (or hand-over) is paid, over the
// points of the current versions' tables of all systems whose roofline exceeds it: `leftout
// DATABASE 8`, table "reached roofline". Products and experts by the width of the stored element
// and the pipe; where one of the two was never measured, the other's or the next width's.
struct Share {
  double bytes;
  ops::Pipe pipe;
  double gemm, experts;
};
constexpr std::array kShares{
    Share{2, ops::Pipe::bf16, 0.731, 0.489},
    Share{1, ops::Pipe::bf16, 0.353, 0.353},       // experts not measured
    Share{0.5625, ops::Pipe::bf16, 0.420, 0.198},  // not measured: as 0.5
    Share{0.5, ops::Pipe::bf16, 0.420, 0.198},
    Share{1, ops::Pipe::fp8, 0.401, 0.372},
    Share{0.5, ops::Pipe::fp8, 0.339, 0.339},  // products not measured
    Share{0.5625, ops::Pipe::fp4, 0.323, 0.357},
    Share{1, ops::Pipe::int8, 0.451, 0.372},  // experts not measured: as fp8
};

// The same share of families that have one for all formats; and the mean relative error of the
// estimate and of the bare roofline over the same tables ("estimate's error", "roofline's error").
struct Known {
  std::string_view family;
  double share, estimate_sigma, roofline_sigma;
};
constexpr std::array kKnown{
    Known{"gemm", 0, 0.403, 0.681},  // share: kShares
    Known{"moe", 0, 0.661, 0.658},   // share: kShares
    Known{"context_attention", 0.255, 0.610, 0.794},
    Known{"encoder_attention", 0.255, 0.610, 0.794},  // not tried: as context_attention
    Known{"generation_attention", 0.578, 0.609, 0.767},
    Known{"context_mla", 0.306, 0.589, 0.769},
    Known{"generation_mla", 0.457, 0.582, 0.737},
    Known{"mla_context_module", 0.284, 0.560, 0.705},
    Known{"mla_generation_module", 0.253, 0.730, 0.708},
    Known{"mla_bmm", 0.731, 0.403, 0.681},  // not tried: as bfloat16 products
    Known{"custom_allreduce", 0.604, 0.307, 0.604},
    Known{"nccl", 0.481, 0.303, 0.784},
};
// Copies, norms, look-ups and hand-overs have no tables to be held against: a judgement.
constexpr Known kUntabled{"", 0.5, 0.6, 0.6};

const Known& known(const ops::Op& op) {
  const auto found = std::find_if(kKnown.begin(), kKnown.end(),
                                  [&](const Known& k) { return k.family == ops::family(op); });
  return found == kKnown.end() ? kUntabled : *found;
}

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
  Cost operator()(const ops::CustomAllReduce& o) const { return link(o, o.ranks); }
  Cost operator()(const ops::Collective& o) const { return link(o, o.ranks); }
  Cost operator()(const ops::P2p&) const { return {1, system.node.p2p_latency}; }
  Cost operator()(const ops::Elementwise&) const { return copy(); }
  Cost operator()(const ops::Embedding&) const { return copy(); }
  template <class Attention>
  Cost operator()(const Attention& o) const {
    return {known(o).share, launch()};
  }

 private:
  Ms launch() const { return system.gpu.launch; }
  Cost copy() const { return {system.gpu.memory_efficiency, launch()}; }
  Cost link(const ops::Op& op, std::int64_t ranks) const {
    if (ranks <= 1) return {};
    return {known(op).share, system.node.p2p_latency};
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
  return std::make_shared<RooflinePricer>(op, system, Cost{}, known(op).roofline_sigma);
}

std::shared_ptr<const BoundOp::Pricer> estimate_pricer(const ops::Op& op,
                                                       const hw::System& system) {
  return std::make_shared<RooflinePricer>(op, system, std::visit(CostOf{system}, op),
                                          known(op).estimate_sigma);
}

bool is_analytic(const ops::Op& op) {
  return std::holds_alternative<ops::P2p>(op) || std::holds_alternative<ops::Elementwise>(op) ||
         std::holds_alternative<ops::Embedding>(op);
}

}  // namespace setpoint::perfdb
