// SPDX-License-Identifier: Apache-2.0
// Number formats of weights, activations, KV cache and messages: bytes per element and the matrix
// pipe that multiplies them. One table gives names, parsing and facts.
// Source: shared data modes of the public operator tables (quantisation labels), see
// perfdb/SOURCES.md; nvfp4 is 4 bits plus one fp8 scale per 16 elements (9/16 byte).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace setpoint::ops {

// The matrix unit whose peak rate bounds a multiplication.
enum class Pipe : std::uint8_t { bf16, int8, fp8, fp4 };
inline constexpr std::array<std::string_view, 4> kPipeNames{"bf16", "int8", "fp8", "fp4"};

enum class Quant : std::uint8_t {
  bfloat16,
  half,
  int8,
  int8_wo,
  int4_wo,
  fp8,
  fp8_static,
  fp8_block,
  sq,
  nvfp4,
  nvfp4_wo,
  w4a16_nvfp4,
  w4afp8,
  w4a16_mxfp4,
  w4a16_mxfp4_cutlass,
  w4a8_mxfp4_mxfp8,
  w4a8_mxfp4_mxfp8_trtllm,
};

struct QuantInfo {
  Quant quant;
  std::string_view name;
  double bytes;  // of one stored element, scales included
  Pipe pipe;
};

inline constexpr std::array kQuants{
    QuantInfo{Quant::bfloat16, "bfloat16", 2, Pipe::bf16},
    QuantInfo{Quant::half, "half", 2, Pipe::bf16},
    QuantInfo{Quant::int8, "int8", 1, Pipe::int8},
    QuantInfo{Quant::int8_wo, "int8_wo", 1, Pipe::bf16},
    QuantInfo{Quant::int4_wo, "int4_wo", 0.5, Pipe::bf16},
    QuantInfo{Quant::fp8, "fp8", 1, Pipe::fp8},
    QuantInfo{Quant::fp8_static, "fp8_static", 1, Pipe::fp8},
    QuantInfo{Quant::fp8_block, "fp8_block", 1, Pipe::fp8},
    QuantInfo{Quant::sq, "sq", 1, Pipe::int8},
    QuantInfo{Quant::nvfp4, "nvfp4", 0.5625, Pipe::fp4},
    QuantInfo{Quant::nvfp4_wo, "nvfp4_wo", 0.5625, Pipe::bf16},
    QuantInfo{Quant::w4a16_nvfp4, "w4a16_nvfp4", 0.5625, Pipe::bf16},
    QuantInfo{Quant::w4afp8, "w4afp8", 0.5, Pipe::fp8},
    QuantInfo{Quant::w4a16_mxfp4, "w4a16_mxfp4", 0.5, Pipe::bf16},
    QuantInfo{Quant::w4a16_mxfp4_cutlass, "w4a16_mxfp4_cutlass", 0.5, Pipe::bf16},
    QuantInfo{Quant::w4a8_mxfp4_mxfp8, "w4a8_mxfp4_mxfp8", 0.5, Pipe::fp8},
    QuantInfo{Quant::w4a8_mxfp4_mxfp8_trtllm, "w4a8_mxfp4_mxfp8_trtllm", 0.5, Pipe::fp8},
};

constexpr const QuantInfo& info(Quant q) { return kQuants[static_cast<std::size_t>(q)]; }
constexpr std::string_view name(Quant q) { return info(q).name; }
constexpr double bytes(Quant q) { return info(q).bytes; }
constexpr std::optional<Quant> parse_quant(std::string_view text) {
  for (const QuantInfo& q : kQuants) {
    if (q.name == text) return q.quant;
  }
  return std::nullopt;
}

}  // namespace setpoint::ops
