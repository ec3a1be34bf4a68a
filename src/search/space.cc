// SPDX-License-Identifier: Apache-2.0
#include "search/space.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ops/quant.h"

namespace setpoint::search {
namespace {

using model::Shard;

// Powers of two and the divisors of `whole`, up to `most`.
std::vector<int> widths(std::int64_t whole, std::int64_t most) {
  std::vector<int> out;
  for (std::int64_t n = 1; n <= most; ++n) {
    const bool power_of_two = (n & (n - 1)) == 0;
    if (power_of_two || (whole > 0 && whole % n == 0)) out.push_back(static_cast<int>(n));
  }
  return out;
}

// The largest number that divides every layer group's value; 0 when no group has one.
template <class Value>
std::int64_t common(const model::ModelSpec& model, Value value) {
  std::int64_t out = 0;
  for (const model::LayerGroup& group : model.layers) out = std::gcd(out, value(group));
  return out;
}

double weight_bytes(const model::ModelSpec& model, const model::Precision& precision) {
  const ops::Quant quant = model.is_moe() ? precision.moe : precision.gemm;
  return static_cast<double>(model.parameters()) * ops::bytes(quant);
}

// The attention side of a worker, on which the expert side is laid.
std::vector<Shard> attention_cuts(const model::ModelSpec& model, const framework::Facts& facts,
                                  const SpaceLimits& limits) {
  const auto heads = common(model, [](const auto& g) { return g.attention.heads; });
  const auto experts = common(model, [](const auto& g) { return g.ffn.experts; });
  const std::int64_t most_dp = model.is_moe() && facts.attention_dp ? limits.gpus : 1;
  const std::int64_t most_cp = facts.context_parallel ? limits.domain : 1;
  std::vector<Shard> out;
  for (int tp : widths(heads, std::min(limits.domain, limits.gpus))) {
    for (int pp : widths(model.layer_count(), limits.gpus / tp)) {
      for (int dp : widths(experts, std::min(most_dp, limits.gpus / tp / pp))) {
        for (int cp : widths(0, std::min(most_cp, limits.gpus / tp / pp / dp))) {
          if (cp > 1 && (tp > 1 || dp > 1)) continue;  // sequence shards hold every head
          out.push_back({.tp = tp, .pp = pp, .dp = dp, .moe_tp = 1, .moe_ep = 1, .cp = cp});
        }
      }
    }
  }
  return out;
}

bool order(const Shard& a, const Shard& b) {
  return std::tuple(a.gpus(), a.pp, a.dp, a.cp, a.moe_ep, a.tp) <
         std::tuple(b.gpus(), b.pp, b.dp, b.cp, b.moe_ep, b.tp);
}

}  // namespace

SpaceLimits space_limits(const model::ModelSpec& model, const model::Precision& precision,
                         const hw::System& system, std::int64_t gpus) {
  const std::int64_t domain = std::max(system.node.gpus, system.node.gpus_per_rack);
  const double domain_bytes =
      static_cast<double>(domain) * static_cast<double>(system.gpu.memory.value());
  const bool may_span = weight_bytes(model, precision) >= kSpanDomainsFrom * domain_bytes;
  return {.gpus = may_span ? gpus : std::min(gpus, domain), .domain = domain};
}

std::vector<Shard> list_shards(const model::ModelSpec& model, const framework::Facts& facts,
                               const SpaceLimits& limits) {
  std::vector<Shard> out;
  for (Shard shard : attention_cuts(model, facts, limits)) {
    if (!model.is_moe()) {
      out.push_back(shard);
      continue;
    }
    const int width = shard.tp * shard.dp * shard.cp;
    for (int ep = 1; ep <= width; ++ep) {
      if (width % ep != 0) continue;
      shard.moe_ep = ep;
      shard.moe_tp = width / ep;
      if (shard.moe_tp <= limits.domain) out.push_back(shard);
    }
  }
  std::sort(out.begin(), out.end(), order);
  return out;
}

}  // namespace setpoint::search
