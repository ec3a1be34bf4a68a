// SPDX-License-Identifier: Apache-2.0
#include "perfdb/compact_form.h"

#include <cmath>

namespace setpoint::perfdb::compact {
namespace {

// Knots were chosen on the current-version tables of all measured systems so that the whole stays
// below 200 kB; the alternatives tried stand in docs/accuracy-compact.md.

constexpr Term term(Axis a, Axis b) { return {kNoGate, 2, {a, b, Axis{}}}; }
constexpr Term term(Axis a, Axis b, Axis c) { return {kNoGate, 3, {a, b, c}}; }

// {coordinate, knots, first, last}
constexpr std::array kGemm{
    term({0, 8, 0, 15}, {1, 6, 5, 16}, {2, 4, 5, 16}),         // m, n, k
    Term{kUnaligned, 1, {Axis{0, 9, 0, 15}, Axis{}, Axis{}}},  // extra cost of m % 16 != 0, by m
};
// heads x batch is what fills the GPU; how query heads share a KV head changes the tile.
constexpr std::array kContextAttention{
    term({0, 6, 0, 11}, {1, 8, 0, 14}),               // heads x batch, sequence
    term({2, 3, 0, 4}, {1, 5, 0, 14}, {3, 3, 0, 7}),  // query heads per KV head, sequence, batch
};
constexpr std::array kGenerationAttention{
    term({0, 9, 0, 14}, {1, 7, 1, 17}),                // KV heads x batch, KV length
    term({2, 3, 0, 4}, {0, 5, 0, 14}, {1, 3, 1, 17}),  // query heads per KV head, the same two
};
constexpr std::array kEncoderAttention{term({0, 5, 0, 11}, {1, 8, 0, 14})};
constexpr std::array kContextMla{
    term({0, 5, 0, 15}, {1, 7, 0, 15}),  // heads x batch, sequence
    term({2, 3, 0, 7}, {1, 5, 0, 15}),   // heads, sequence
};
constexpr std::array kGenerationMla{
    term({0, 3, 0, 7}, {1, 5, 1, 17}, {2, 6, 0, 11}),  // heads, KV length, batch
};
constexpr std::array kMlaBmm{term({0, 4, 0, 7}, {1, 8, 0, 15})};  // heads, batch
constexpr std::array kMoe{
    term({0, 8, 0, 14}, {1, 4, 0, 9}, {2, 2, 18, 26}),  // tokens, experts per rank, expert size
    term({3, 9, -6, 11}, {4, 3, 0, 2}, {5, 3, 0, 6}),   // tokens per expert, skew, ep
    term({6, 5, 6, 14}, {0, 6, 0, 14}),                 // expert width per GPU, tokens
    term({7, 3, 10, 13}, {0, 6, 0, 14}),                // hidden size, tokens
    term({8, 3, 0, 4}, {0, 6, 0, 14}),                  // experts per token, tokens
};
constexpr std::array kMessage{term({0, 9, 7, 30}, {1, 3, 1, 3})};  // bytes, ranks

constexpr Moves kFixed{};
constexpr Moves kTokens{true, false, false};
constexpr Moves kBatch{false, true, false};
constexpr Moves kSeq{false, false, true};

constexpr std::array kForms{
    Form{"gemm", {kTokens}, kGemm},
    Form{"context_attention", {kBatch, kSeq, kFixed, kBatch}, kContextAttention},
    Form{"generation_attention", {kBatch, kSeq}, kGenerationAttention},
    Form{"encoder_attention", {kBatch, kSeq}, kEncoderAttention},
    Form{"context_mla", {kBatch, kSeq}, kContextMla},
    Form{"generation_mla", {kFixed, kSeq, kBatch}, kGenerationMla},
    Form{"mla_context_module", {kBatch, kSeq}, kContextMla},
    Form{"mla_generation_module", {kFixed, kSeq, kBatch}, kGenerationMla},
    Form{"mla_bmm", {kFixed, kBatch}, kMlaBmm},
    Form{"moe", {kTokens, kFixed, kFixed, kTokens}, kMoe},
    Form{"custom_allreduce", {kTokens}, kMessage},
    Form{"nccl", {kTokens}, kMessage},
};

double log2_of(double v) { return v > 1 ? std::log2(v) : 0; }
double d(std::int64_t v) { return static_cast<double>(v); }

// Position of a skew on the axis of the three measured distributions: balanced, 1.01, 1.2.
double skew_position(double alpha) {
  constexpr double kMild = 1.01, kStrong = 1.2;
  if (!(alpha > 0)) return 0;
  return alpha <= kMild ? alpha / kMild : 1 + (alpha - kMild) / (kStrong - kMild);
}

std::string text(ops::Quant q) { return std::string(ops::name(q)); }

struct KeyOf {
  Key operator()(const ops::Gemm& o) const { return {text(o.quant)}; }
  Key operator()(const ops::ContextAttention& o) const {
    return {text(o.fmha), text(o.kv), std::to_string(o.head_dim), std::to_string(o.window)};
  }
  Key operator()(const ops::GenerationAttention& o) const {
    return {"", text(o.kv), std::to_string(o.head_dim), std::to_string(o.window)};
  }
  Key operator()(const ops::EncoderAttention& o) const {
    return {text(o.fmha), "", std::to_string(o.head_dim)};
  }
  Key operator()(const ops::ContextMla& o) const { return {text(o.fmha), text(o.kv)}; }
  Key operator()(const ops::GenerationMla& o) const { return {"", text(o.kv)}; }
  Key operator()(const ops::MlaContextModule& o) const {
    return {text(o.fmha), text(o.kv), text(o.gemm), std::to_string(o.native_heads)};
  }
  Key operator()(const ops::MlaGenerationModule& o) const {
    return {"", text(o.kv), text(o.gemm), std::to_string(o.native_heads)};
  }
  Key operator()(const ops::MlaBmm& o) const { return {text(o.quant), o.pre ? "pre" : "post"}; }
  Key operator()(const ops::Moe& o) const { return {text(o.quant), o.gated ? "gated" : "plain"}; }
  Key operator()(const ops::Collective& o) const {
    // A message has a width and no format: fp8 travels as int8 does.
    return {std::to_string(static_cast<int>(ops::bytes(o.quant))),
            std::string(ops::kCollectiveNames[static_cast<std::size_t>(o.kind)])};
  }
  template <class Other>
  Key operator()(const Other&) const {
    return {};
  }
};

struct FixedPart {
  Coordinates operator()(const ops::Gemm& o) const { return {0, log2_of(d(o.n)), log2_of(d(o.k))}; }
  Coordinates operator()(const ops::ContextAttention& o) const {
    return {log2_of(d(o.heads)), 0, log2_of(d(o.heads) / std::max(d(o.kv_heads), 1.0)), 0};
  }
  Coordinates operator()(const ops::GenerationAttention& o) const {
    return {log2_of(d(o.kv_heads)), 0, log2_of(d(o.heads) / std::max(d(o.kv_heads), 1.0))};
  }
  Coordinates operator()(const ops::EncoderAttention& o) const { return {log2_of(d(o.heads))}; }
  Coordinates operator()(const ops::ContextMla& o) const { return context_mla(o.heads); }
  Coordinates operator()(const ops::MlaContextModule& o) const { return context_mla(o.heads); }
  Coordinates operator()(const ops::GenerationMla& o) const { return {log2_of(d(o.heads))}; }
  Coordinates operator()(const ops::MlaGenerationModule& o) const { return {log2_of(d(o.heads))}; }
  Coordinates operator()(const ops::MlaBmm& o) const { return {log2_of(d(o.heads))}; }
  Coordinates operator()(const ops::Moe& o) const {
    const double width = d(o.inter) / std::max(d(o.tp), 1.0);
    const double per_expert = std::max(d(o.topk), 1.0) / std::max(d(o.experts), 1.0);
    return {0,
            log2_of(d(o.experts) / std::max(d(o.ep), 1.0)),
            log2_of(d(o.hidden) * width),
            std::log2(per_expert),
            skew_position(o.alpha),
            log2_of(d(o.ep)),
            log2_of(width),
            log2_of(d(o.hidden)),
            log2_of(d(o.topk))};
  }
  Coordinates operator()(const ops::CustomAllReduce& o) const {
    return {log2_of(d(o.hidden) * ops::bytes(ops::Quant::half)), log2_of(d(o.ranks))};
  }
  Coordinates operator()(const ops::Collective& o) const {
    return {std::log2(std::max(o.elements * ops::bytes(o.quant), 1e-3)), log2_of(d(o.ranks))};
  }
  template <class Other>
  Coordinates operator()(const Other&) const {
    return {};
  }

 private:
  static Coordinates context_mla(std::int64_t heads) {
    return {log2_of(d(heads)), 0, log2_of(d(heads))};
  }
};

}  // namespace

std::size_t Term::size() const {
  std::size_t n = 1;
  for (const Axis& axis : used()) n *= axis.knots;
  return n;
}

std::size_t Form::size() const {
  std::size_t n = 0;
  for (const Term& t : terms) n += t.size();
  return n;
}

std::span<const Form> forms() { return kForms; }

const Form* find_form(std::string_view family) {
  for (const Form& form : kForms) {
    if (form.family == family) return &form;
  }
  return nullptr;
}

Key key_of(const ops::Op& op) { return std::visit(KeyOf{}, op); }

Fixed fixed_of(const ops::Op& op) {
  Fixed fixed{std::visit(FixedPart{}, op)};
  const auto* decode = std::get_if<ops::GenerationAttention>(&op);
  if (decode != nullptr && decode->window > 0) fixed.most_seq = d(decode->window);
  return fixed;
}

Coordinates coordinates(const Form& form, const Fixed& fixed, const ops::Point& point) {
  const double tokens = log2_of(point.tokens), batch = log2_of(point.batch);
  const double seq = log2_of(std::min(point.seq + point.prefix, fixed.most_seq));
  Coordinates x = fixed.part;
  for (std::size_t i = 0; i < kUnaligned; ++i) {
    if (form.moves[i].tokens) x[i] += tokens;
    if (form.moves[i].batch) x[i] += batch;
    if (form.moves[i].seq) x[i] += seq;
  }
  const double tiles = point.tokens / 16;
  x[kUnaligned] = tiles == std::floor(tiles) ? 0 : 1;
  return x;
}

}  // namespace setpoint::perfdb::compact
