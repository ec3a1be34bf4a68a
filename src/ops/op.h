// SPDX-License-Identifier: Apache-2.0
// The operator vocabulary: what one GPU executes, as plain shapes. Everything fixed when a layout
// is chosen is in the Op; what changes from step to step is in the Point. Shapes are per GPU (rank
// local): the model has already divided by tp, ep and pp.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "ops/quant.h"

namespace setpoint::ops {

// Where an operator is asked. Token-driven operators read `tokens`; attention reads `batch`, `seq`
// and `prefix`. Prefill attention: `seq` new tokens per request after `prefix` cached ones.
// Decode attention: `seq` is the whole KV length including the new token, `batch` counts the query
// tokens (requests x (draft + 1)).
struct Point {
  double tokens = 0;
  double batch = 0;
  double seq = 0;
  double prefix = 0;
};

struct Gemm {  // [tokens, k] x [k, n]
  Quant quant = Quant::bfloat16;
  std::int64_t n = 0, k = 0;
  bool operator==(const Gemm&) const = default;
};

struct ContextAttention {  // causal; window 0 = full
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0, window = 0;
  Quant kv = Quant::bfloat16, fmha = Quant::bfloat16;
  bool operator==(const ContextAttention&) const = default;
};

struct GenerationAttention {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0, window = 0;
  Quant kv = Quant::bfloat16;
  bool operator==(const GenerationAttention&) const = default;
};

struct EncoderAttention {  // bidirectional
  std::int64_t heads = 0, head_dim = 0;
  Quant fmha = Quant::bfloat16;
  bool operator==(const EncoderAttention&) const = default;
};

struct ContextMla {  // attention proper of multi-head latent attention, no projections
  std::int64_t heads = 0;
  Quant kv = Quant::bfloat16, fmha = Quant::bfloat16;
  bool operator==(const ContextMla&) const = default;
};

struct GenerationMla {
  std::int64_t heads = 0;
  Quant kv = Quant::bfloat16;
  bool operator==(const GenerationMla&) const = default;
};

struct MlaContextModule {  // projections and attention in one measured piece
  std::int64_t heads = 0, native_heads = 0;
  Quant gemm = Quant::bfloat16, kv = Quant::bfloat16, fmha = Quant::bfloat16;
  bool operator==(const MlaContextModule&) const = default;
};

struct MlaGenerationModule {
  std::int64_t heads = 0, native_heads = 0;
  Quant gemm = Quant::bfloat16, kv = Quant::bfloat16, fmha = Quant::bfloat16;
  bool operator==(const MlaGenerationModule&) const = default;
};

struct MlaBmm {  // absorbed up-projection before (pre) or after attention in decode
  std::int64_t heads = 0;
  bool pre = true;
  Quant quant = Quant::bfloat16;
  bool operator==(const MlaBmm&) const = default;
};

struct Moe {  // expert GEMMs of the most loaded rank; `tokens` counts all tokens of the ep group
  std::int64_t hidden = 0, inter = 0, topk = 0, experts = 0, tp = 1, ep = 1;
  Quant quant = Quant::bfloat16;
  bool gated = true;
  double alpha = 0;  // power-law exponent of expert loads; 0 = balanced
  bool operator==(const Moe&) const = default;
};

struct CustomAllReduce {  // the framework's own kernel; message = tokens x hidden elements of bf16
  std::int64_t hidden = 0, ranks = 1;
  bool operator==(const CustomAllReduce&) const = default;
};

enum class CollectiveKind : std::uint8_t { all_gather, reduce_scatter, all_reduce, all_to_all };
inline constexpr std::array<std::string_view, 4> kCollectiveNames{"all_gather", "reduce_scatter",
                                                                  "all_reduce", "alltoall"};

struct Collective {  // NCCL / oneCCL; message = tokens x elements
  CollectiveKind kind = CollectiveKind::all_gather;
  double elements = 0;  // per token
  std::int64_t ranks = 1;
  Quant quant = Quant::half;
  bool operator==(const Collective&) const = default;
};

struct P2p {  // one hand-over between pipeline stages; message = tokens x hidden elements of bf16
  std::int64_t hidden = 0;
  std::int64_t span = 2;  // GPUs between sender and receiver, both counted: decides the link
  bool operator==(const P2p&) const = default;
};

struct Elementwise {  // norms, activations, copies
  double bytes_per_token = 0;
  bool operator==(const Elementwise&) const = default;
};

struct Embedding {
  std::int64_t hidden = 0;
  bool operator==(const Embedding&) const = default;
};

using Op = std::variant<Gemm, ContextAttention, GenerationAttention, EncoderAttention, ContextMla,
                        GenerationMla, MlaContextModule, MlaGenerationModule, MlaBmm, Moe,
                        CustomAllReduce, Collective, P2p, Elementwise, Embedding>;

// The family's name as in perfdb/ops.json, e.g. "gemm", "context_attention".
std::string_view family(const Op& op);

}  // namespace setpoint::ops
