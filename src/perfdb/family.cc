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

constexpr std::array kFamilies{
    Family{.op = "gemm",
           .axes = {AxisRule{}, tokens(kGrowing)},
           .floor_percentile = 0.015,
           .floor_share = 0.95,
           .at_least_roofline = true,
           .sigma = {0.03, 0.06, 0.14, 0.2}},
    Family{.op = "context_attention",
           .drive = Drive::prompt,
           .fixed = kHeads,
           .axes = {tokens(kPrompt), batch(kGrowing)},
           .sigma = {0.03, 0.05, 0.13, 0.2}},
    Family{.op = "generation_attention",
           .drive = Drive::decode,
           .fixed = kHeads,
           .axes = {batch(kGrowing), tokens(kGrowing)},
           .at_least_roofline = true,
           .sigma = {0.03, 0.06, 0.15, 0.2}},
    Family{.op = "encoder_attention",
           .drive = Drive::prompt,
           .fixed = kHeads,
           .axes = {tokens(kPrompt), batch(kGrowing)},
           .sigma = {0.03, 0.05, 0.13, 0.2}},
    Family{.op = "context_mla",
           .drive = Drive::prompt,
           .fixed = kHeads,
           .axes = {tokens(kPrompt), batch(kGrowing)},
           .sigma = {0.03, 0.05, 0.1, 0.2}},
    Family{.op = "generation_mla",
           .drive = Drive::decode,
           .fixed = kHeld,
           .axes = {batch(kGrowing), AxisRule{kUtilisation, 1, kMostTokens, 3}},
           .sigma = {0.03, 0.06, 0.1, 0.2}},
    Family{.op = "mla_context_module",
           .drive = Drive::prompt,
           .fixed = kHeld,
           .axes = {tokens(kPromptModule), batch(kGrowing)},
           .sigma = {0.03, 0.05, 0.12, 0.2}},
    Family{.op = "mla_generation_module",
           .drive = Drive::decode,
           .fixed = kHeld,
           .axes = {batch(kHeld), tokens(kHeld)},
           .sigma = {0.03, 0.05, 0.1, 0.2}},
    Family{.op = "mla_bmm",
           .drive = Drive::batch,
           .fixed = kHeads,
           .axes = {AxisRule{}, batch(LineRule{.below = Below::least})},
           .sigma = {0.03, 0.05, 0.1, 0.2}},
    Family{.op = "moe",
           .axes = {AxisRule{}, tokens(kExperts)},
           .floor_percentile = 0.015,
           .floor_share = 0.95,
           .sigma = {0.02, 0.05, 0.1, 0.15}},
    Family{.op = "custom_allreduce",
           .fixed = kRanks,
           .axes = {AxisRule{}, bytes(kMessage)},
           .floor_share = 0.98,
           .sigma = {0.03, 0.05, 0.2, 0.3}},
    Family{.op = "nccl",
           .fixed = kRanks,
           .axes = {AxisRule{}, bytes(kMessage)},
           .floor_share = 0.98,
           .sigma = {0.03, 0.05, 0.15, 0.3}},
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
