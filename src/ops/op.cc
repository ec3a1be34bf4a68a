// SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"

#include <array>

namespace setpoint::ops {
namespace {

// In the order of the alternatives of Op.
constexpr std::array<std::string_view, std::variant_size_v<Op>> kFamilies{"gemm",
                                                                          "context_attention",
                                                                          "generation_attention",
                                                                          "encoder_attention",
                                                                          "context_mla",
                                                                          "generation_mla",
                                                                          "mla_context_module",
                                                                          "mla_generation_module",
                                                                          "mla_bmm",
                                                                          "moe",
                                                                          "custom_allreduce",
                                                                          "nccl",
                                                                          "p2p",
                                                                          "elementwise",
                                                                          "embedding"};

}  // namespace

std::string_view family(const Op& op) { return kFamilies[op.index()]; }

}  // namespace setpoint::ops
