// SPDX-License-Identifier: Apache-2.0
// The weight matrices of a layer as one GPU of a cut holds them. One list serves parameter counts
// (a cut of one GPU) and bytes per GPU, so the two cannot disagree.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "setpoint/model.h"

namespace setpoint::model {

// What a tensor belongs to: decides its number format.
enum class Part : std::uint8_t { attn_q, attn_kv, attn_o, dense_ffn, experts, shared, head, plain };
inline constexpr std::array kQuantisedParts{Part::attn_q,    Part::attn_kv, Part::attn_o,
                                            Part::dense_ffn, Part::experts, Part::shared,
                                            Part::head};
constexpr std::size_t index(Part part) { return static_cast<std::size_t>(part); }

struct Tensor {
  Part part = Part::plain;  // plain: kept in 16 bits whatever the checkpoint's format
  std::int64_t copies = 1, rows = 0, cols = 1;
};

// KV heads one GPU holds: divided by tp, replicated once tp exceeds their number.
std::int64_t local_kv_heads(const Attention& attention, int tp);

// Local sizes under `shard`; Shard{} gives the whole layer.
std::vector<Tensor> layer_tensors(const LayerGroup& layer, std::int64_t hidden, const Shard& shard);
// What a multi-token-prediction layer has besides a layer's own tensors.
std::vector<Tensor> draft_tensors(std::int64_t hidden);

double elements(const std::vector<Tensor>& tensors);
ops::Quant format_of(Part part, const Precision& precision);
// Scales included: one fp32 per block x block (fp8_block), one bf16 per `block` inputs (int4), one
// byte per 32 (mxfp4); nvfp4's are part of its 9/16 byte.
double stored_bytes(const Tensor& tensor, ops::Quant quant, std::int64_t block);

// Weights of one GPU of the fullest pipeline stage.
double weight_bytes(const ModelSpec& model, const Shard& shard, const Precision& precision,
                    bool with_draft_layers);

// Layers [first, last) of each pipeline stage; the first stages take the remainder.
struct Stage {
  std::int64_t first = 0, last = 0;
};
std::vector<Stage> stages(std::int64_t layers, int pp);
// Layers of each group within a stage.
std::vector<std::int64_t> group_counts(const ModelSpec& model, const Stage& stage);

}  // namespace setpoint::model
