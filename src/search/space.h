// SPDX-License-Identifier: Apache-2.0
// The space of cuts: every (tp, pp, dp, moe_tp, moe_ep, cp) one worker may be given. Whether a cut
// divides the model is asked later (model::infeasible_reason), so that refusals are counted.
#pragma once

#include <cstdint>
#include <vector>

#include "framework/framework.h"
#include "hw/system.h"
#include "setpoint/model.h"

namespace setpoint::search {

// A worker leaves its NVLink domain (pipeline stages, wide expert groups) only for a model whose
// weights fill at least this share of one domain: smaller ones serve better, and are scheduled more
// easily, as replicas inside nodes. DeepSeek-V3 in fp8 fills 0.55 of eight H200, Qwen3-235B 0.19.
inline constexpr double kSpanDomainsFrom = 0.25;

struct SpaceLimits {
  std::int64_t gpus = 1;    // most GPUs of one worker
  std::int64_t domain = 8;  // GPUs that share fast links: tensor parallelism stays inside
};

SpaceLimits space_limits(const model::ModelSpec& model, const model::Precision& precision,
                         const hw::System& system, std::int64_t gpus);

// Without repetition, in a fixed order: fewer GPUs first, then pp, dp, cp, moe_ep upwards.
std::vector<model::Shard> list_shards(const model::ModelSpec& model, const framework::Facts& facts,
                                      const SpaceLimits& limits);

}  // namespace setpoint::search
