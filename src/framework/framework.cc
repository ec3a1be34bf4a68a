// SPDX-License-Identifier: Apache-2.0
#include "framework/framework.h"

#include <algorithm>
#include <cmath>

namespace setpoint::framework {
namespace {

constexpr double kBytesPerMib = 1024.0 * 1024.0;
constexpr std::array kBlackwellDataCentre{100, 103};

}  // namespace

double Memory::activation(bool moe, int tp) const {
  const auto& table = moe ? moe_activation : dense_activation;
  const double at = std::clamp(std::log2(static_cast<double>(std::max(tp, 1))), 0.0, 3.0);
  const auto low = std::min<std::size_t>(static_cast<std::size_t>(at), 2);
  return std::lerp(table[low], table[low + 1], at - static_cast<double>(low));
}

Dispatch Facts::dispatch_for(const hw::System& system) const {
  const bool blackwell =
      std::ranges::find(kBlackwellDataCentre, system.gpu.sm) != kBlackwellDataCentre.end();
  return dispatch[blackwell ? 1 : 0];
}

Limits Facts::limits(const Place& place) const {
  for (const Tier& tier : scheduler.tiers) {
    if (place.memory >= tier.memory && place.sm >= tier.sm && place.width >= tier.width) {
      return tier.limits;
    }
  }
  return {};
}

double Facts::memory_fraction(const Place& place) const {
  const StaticReserve& r = memory.reserve;
  if (r.base <= 0) return memory.fraction;
  const Limits at = limits(place);
  const auto graph = static_cast<double>(at.graph_requests);
  double reserve = r.base + r.per_chunk_token * static_cast<double>(at.token_budget) +
                   r.per_gpu * place.width * place.pp + r.per_graph_request * graph;
  if (place.dp > 1) {
    reserve += r.per_graph_request_dp * graph * place.dp;
    if (graph > r.large_graph) reserve += r.per_large_graph_request_dp * graph * place.dp;
  }
  if (place.memory > r.least_above) reserve = std::max(reserve, r.least);
  const double total = static_cast<double>(place.memory.value()) / kBytesPerMib;
  // The engine rounds its share to three decimals.
  return std::clamp(std::round((total - reserve) / total * 1000) / 1000, 0.0, 1.0);
}

ops::Quant Facts::default_kv(const hw::System&, ops::Quant) const { return kv_auto; }

}  // namespace setpoint::framework
