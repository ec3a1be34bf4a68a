// SPDX-License-Identifier: Apache-2.0
#include "perfdb/family.h"

#include <algorithm>

namespace setpoint::perfdb {
namespace {

// How far a margin reaches. Beyond it the last piece is continued.
constexpr double kMostTokens = 1 << 22;
constexpr double kMostBatch = 1 << 16;
constexpr double kMostBytes = 1LL << 36;

constexpr LineRule kGrowing{};  // line, secant in the bound, hold below
constexpr LineRule kHeads{.above = Above::secant_with_hold};
constexpr LineRule kUtilisation{.between = Between::log_utilisation};
constexpr LineRule kHeld{.above = Above::hold};
constexpr LineRule kPrompt{.between = Between::root};
// Modules carry projections whose share shrinks with length: a secant overshoots there.
constexpr LineRule kPromptModule{.between = Between::root, .above = Above::hold};
constexpr LineRule kMessage{.between = Between::log_above_floor,
                            .above = Above::axis_secant,
                            .below = Below::least,
                            .octaves = 1};
constexpr LineRule kExperts{.above = Above::axis_secant, .octaves = 1};
constexpr LineRule kRanks{.between = Between::log_above_floor};

constexpr AxisRule tokens(LineRule rule) { return {rule, 1, kMostTokens, 1}; }
constexpr AxisRule batch(LineRule rule, int parts = 1) { return {rule, 1, kMostBatch, parts}; }
constexpr AxisRule bytes(LineRule rule) { return {rule, 1, kMostBytes, 8}; }

// Expected error of a collected point. Assumed: tables hold each point once. (The same NCCL bytes
// collected as another format differ by 1.8 % in the median.)
constexpr double kRepeat = 0.03;

// sigma: mean relative errors of `leftout DATABASE 8`, table "error by source", the family's rows
// interpolated, extrapolated, and borrowed from another shape or, where shapes cannot differ,
// another framework.
constexpr std::array kFamilies{
    Family{.op = "gemm",
           .axes = {AxisRule{}, tokens(kGrowing)},
           .floor_percentile = 0.015,
           .floor_share = 0.95,
           .at_least_roofline = true,
           .sigma = {kRepeat, 0.059, 0.161, 0.654}},
    Family{.op = "context_attention",
           .drive = Drive::prompt,
           .fixed = kHeads,
           .axes = {tokens(kPrompt), batch(kGrowing)},
           .sigma = {kRepeat, 0.038, 0.122, 0.315}},
    Family{.op = "generation_attention",
           .drive = Drive::decode,
           .fixed = kHeads,
           .axes = {batch(kGrowing), tokens(kGrowing)},
           .at_least_roofline = true,
           .sigma = {kRepeat, 0.085, 0.120, 0.372}},
    Family{.op = "encoder_attention",
           .drive = Drive::prompt,
           .fixed = kHeads,
           .axes = {tokens(kPrompt), batch(kGrowing)},
           .sigma = {kRepeat, 0.038, 0.122, 0.315}},  // not tried: as context_attention
    Family{.op = "context_mla",
           .drive = Drive::prompt,
           .fixed = kHeads,
           .axes = {tokens(kPrompt), batch(kGrowing)},
           .sigma = {kRepeat, 0.029, 0.097, 0.627}},
    Family{.op = "generation_mla",
           .drive = Drive::decode,
           .fixed = kHeld,
           .axes = {batch(kGrowing), AxisRule{kUtilisation, 1, kMostTokens, 3}},
           .sigma = {kRepeat, 0.050, 0.127, 0.744}},
    Family{.op = "mla_context_module",
           .drive = Drive::prompt,
           .fixed = kHeld,
           .axes = {tokens(kPromptModule), batch(kGrowing)},
           .sigma = {kRepeat, 0.024, 0.112, 0.303}},
    Family{.op = "mla_generation_module",
           .drive = Drive::decode,
           .fixed = kHeld,
           .axes = {batch(kHeld), tokens(kHeld)},
           .sigma = {kRepeat, 0.031, 0.147, 0.327}},
    Family{.op = "mla_bmm",
           .drive = Drive::batch,
           .fixed = kHeads,
           .axes = {AxisRule{}, batch(LineRule{.below = Below::least})},
           .sigma = {kRepeat, 0.059, 0.161, 0.654}},  // not tried: as gemm
    Family{.op = "moe",
           .axes = {AxisRule{}, tokens(kExperts)},
           .floor_percentile = 0.015,
           .floor_share = 0.95,
           .sigma = {kRepeat, 0.043, 0.147, 0.158}},  // borrowed: from other expert shapes
    Family{.op = "custom_allreduce",
           .fixed = kRanks,
           .axes = {AxisRule{}, bytes(kMessage)},
           .floor_share = 0.98,
           .sigma = {kRepeat, 0.102, 0.180, 0.223}},
    Family{.op = "nccl",
           .fixed = kRanks,
           .axes = {AxisRule{}, bytes(kMessage)},
           .floor_share = 0.98,
           .sigma = {kRepeat, 0.079, 0.127, 0.223}},  // borrowed: as custom_allreduce
};

}  // namespace

const Family* find_family(std::string_view op) {
  const auto found =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& f) { return f.op == op; });
  return found == kFamilies.end() ? nullptr : &*found;
}

ops::Point point_of(Drive drive, double outer, double inner, double scale) {
  switch (drive) {
    case Drive::tokens:
      return {.tokens = inner / scale};
    case Drive::batch:
      return {.batch = inner};
    case Drive::prompt:
      return {.batch = inner, .seq = outer};
    case Drive::decode:
      return {.batch = outer, .seq = inner};
  }
  return {};
}

}  // namespace setpoint::perfdb
