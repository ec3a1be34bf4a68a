// SPDX-License-Identifier: Apache-2.0
#include "ops/roofline.h"

#include <fmt/format.h>

#include <algorithm>

namespace setpoint::ops {
namespace {

// Widths of DeepSeek-V3's multi-head latent attention, the only shape the latent-attention tables
// measure (config.json of deepseek-ai/DeepSeek-V3).
namespace mla {
constexpr double kHidden = 7168, kQueryRank = 1536, kLatent = 512, kRope = 64, kNope = 128;
constexpr double kValue = 128;
constexpr double kQuery = kNope + kRope;                   // 192, one head of q or k
constexpr double kDown = kQueryRank + kLatent + kRope;     // 2112, fused down-projection
constexpr double kAbsorbed = kLatent + kRope;              // 576, one cached token
constexpr double kPairFlop = 2 * (kLatent + kAbsorbed);    // 2176, absorbed q.k and p.v
constexpr double kPromptPairFlop = 2 * (kQuery + kValue);  // 640, expanded q.k and p.v
}  // namespace mla

double d(std::int64_t v) { return static_cast<double>(v); }

double& flop_of(Work& w, Pipe pipe) { return w.flop[static_cast<std::size_t>(pipe)]; }

// (query, key) pairs of new tokens under a causal mask, each new token seeing what came before:
// (full^2 - prefix^2) / 2, or, behind a sliding window, `window` each.
double causal_pairs(const Point& p, std::int64_t window) {
  const double full = p.seq + p.prefix;
  if (window > 0 && full > d(window)) return p.seq * d(window);
  return (full * full - p.prefix * p.prefix) / 2;
}

// Weights are read once, inputs and outputs once, all in the format's own width: the convention of
// the measured tables' speed of light (AIConfigurator 0.12.0).
void add_gemm(Work& w, double m, double n, double k, Quant quant) {
  flop_of(w, info(quant).pipe) += 2 * m * n * k;
  w.bytes += bytes(quant) * (m * n + m * k + n * k);
}

struct WorkOf {
  const Point& at;
  const hw::System& system;

  Work operator()(const Gemm& op) const {
    Work w;
    add_gemm(w, at.tokens, d(op.n), d(op.k), op.quant);
    return w;
  }

  // q and output in bf16, keys and values of the whole sequence in the cache's format.
  Work operator()(const ContextAttention& op) const {
    Work w;
    const double width = d(op.head_dim);
    flop_of(w, info(op.fmha).pipe) =
        4 * at.batch * causal_pairs(at, op.window) * d(op.heads) * width;
    w.bytes = at.batch * (2 * 2 * d(op.heads) * at.seq * width +
                          bytes(op.kv) * 2 * d(op.kv_heads) * (at.seq + at.prefix) * width);
    return w;
  }

  Work operator()(const GenerationAttention& op) const {
    Work w;
    const double width = d(op.head_dim);
    double length = std::max(at.seq - 1, 0.0);
    if (op.window > 0) length = std::min(length, d(op.window));
    flop_of(w, decode_pipe(op.kv, system)) = 4 * at.batch * d(op.heads) * width * length;
    w.bytes = at.batch *
              (2 * 2 * d(op.heads) * width + 2 * d(op.kv_heads) * length * width * bytes(op.kv));
    return w;
  }

  Work operator()(const EncoderAttention& op) const {
    Work w;
    const double width = d(op.head_dim);
    flop_of(w, info(op.fmha).pipe) = 4 * at.batch * at.seq * at.seq * d(op.heads) * width;
    w.bytes = 2 * at.batch * 4 * d(op.heads) * at.seq * width;
    return w;
  }

  Work operator()(const ContextMla& op) const {
    Work w;
    flop_of(w, info(op.fmha).pipe) =
        at.batch * d(op.heads) * mla::kPromptPairFlop * causal_pairs(at, 0);
    w.bytes = at.batch * d(op.heads) * (mla::kQuery + mla::kValue) *
              (bytes(op.kv) * (at.seq + at.prefix) + 2 * at.seq);
    return w;
  }

  Work operator()(const GenerationMla& op) const {
    Work w;
    flop_of(w, decode_pipe(op.kv, system)) = at.batch * d(op.heads) * mla::kPairFlop * at.seq;
    w.bytes = at.batch * (d(op.heads) * (mla::kLatent + mla::kAbsorbed) * 2 +
                          std::max(at.seq - 1, 0.0) * mla::kAbsorbed * bytes(op.kv));
    return w;
  }

  // Attention and the projections around it: fused down, q up, k/v up, out.
  Work operator()(const MlaContextModule& op) const {
    Work w = (*this)(ContextMla{op.heads, op.kv, op.fmha});
    const double tokens = at.batch * at.seq, heads = d(op.heads);
    add_gemm(w, tokens, mla::kDown, mla::kHidden, op.gemm);
    add_gemm(w, tokens, heads * mla::kQuery, mla::kQueryRank, op.gemm);
    add_gemm(w, tokens, heads * (mla::kNope + mla::kValue), mla::kLatent, op.gemm);
    add_gemm(w, tokens, mla::kHidden, heads * mla::kValue, op.gemm);
    return w;
  }

  Work operator()(const MlaGenerationModule& op) const {
    Work w = (*this)(GenerationMla{op.heads, op.kv});
    const double heads = d(op.heads);
    add_gemm(w, at.batch, mla::kDown, mla::kHidden, op.gemm);
    add_gemm(w, at.batch, heads * mla::kQuery, mla::kQueryRank, op.gemm);
    add_gemm(w, at.batch, heads * mla::kNope, mla::kLatent, op.gemm);   // q into the latent space
    add_gemm(w, at.batch, heads * mla::kLatent, mla::kValue, op.gemm);  // latent to values
    add_gemm(w, at.batch, mla::kHidden, heads * mla::kValue, op.gemm);
    return w;
  }

  Work operator()(const MlaBmm& op) const {
    Work w;
    const double heads = d(op.heads);
    flop_of(w, info(op.quant).pipe) = 2 * at.batch * heads * mla::kNope * mla::kLatent;
    w.bytes = heads * bytes(op.quant) *
              ((mla::kNope + mla::kLatent) * at.batch + mla::kNope * mla::kLatent);
    return w;
  }

  // Work of an even load. Experts without a token are not read.
  Work operator()(const Moe& op) const {
    Work w;
    const double rows = at.tokens * d(op.topk) / d(op.ep);
    const double matrices = op.gated ? 3 : 2;
    const double inter = d(op.inter) / d(op.tp);
    flop_of(w, info(op.quant).pipe) = 2 * rows * d(op.hidden) * inter * matrices;
    const double experts = std::min(d(op.experts) / d(op.ep), rows);
    w.bytes = bytes(op.quant) * (rows * d(op.hidden) * 2 + rows * inter * matrices +
                                 d(op.hidden) * inter * matrices * experts);
    return w;
  }

  Work operator()(const CustomAllReduce& op) const {
    return message(2, at.tokens * d(op.hidden) * bytes(Quant::half), op.ranks);
  }

  Work operator()(const Collective& op) const {
    const double passes = op.kind == CollectiveKind::all_reduce ? 2 : 1;
    return message(passes, at.tokens * op.elements * bytes(op.quant), op.ranks);
  }

  Work operator()(const P2p& op) const {
    Work w;
    w.link_bytes = at.tokens * d(op.hidden) * bytes(Quant::bfloat16);
    w.link = system.link_bw(op.span);
    return w;
  }

  Work operator()(const Elementwise& op) const {
    Work w;
    w.bytes = at.tokens * op.bytes_per_token;
    return w;
  }

  // One row per token is copied.
  Work operator()(const Embedding& op) const {
    Work w;
    w.bytes = at.tokens * d(op.hidden) * bytes(Quant::bfloat16);
    return w;
  }

 private:
  // A ring passes the message on (ranks - 1) / ranks of it per GPU and pass.
  Work message(double passes, double size, std::int64_t ranks) const {
    Work w;
    if (ranks <= 1) return w;
    w.link_bytes = passes * size * d(ranks - 1) / d(ranks);
    w.link = ring_bw(ranks, system);
    return w;
  }
};

// Points below one token, batch or position are taken as one.
Point at_least_one(Point p) {
  p.tokens = std::max(p.tokens, 1.0);
  p.batch = std::max(p.batch, 1.0);
  p.seq = std::max(p.seq, 1.0);
  p.prefix = std::max(p.prefix, 0.0);
  return p;
}

}  // namespace

BytesPerS ring_bw(std::int64_t ranks, const hw::System& system) {
  const hw::Node& node = system.node;
  if (ranks <= node.gpus) return node.intra_node_bw;
  const int rack = node.gpus_per_rack;
  if (rack != 0 && ranks <= rack) return node.inter_node_bw;
  const double adapters = std::max(rack, node.gpus);
  return BytesPerS(std::min(node.intra_node_bw.value(), adapters * system.link_bw(ranks).value()));
}

Pipe decode_pipe(Quant kv, const hw::System& system) {
  constexpr int kFirstFp8Sm = 89;  // Ada; Hopper is 90
  return kv == Quant::fp8 && system.gpu.sm >= kFirstFp8Sm ? Pipe::fp8 : Pipe::bf16;
}

Work work(const Op& op, const Point& at, const hw::System& system) {
  return std::visit(WorkOf{at_least_one(at), system}, op);
}

Result<void> supported(const Op& op, const hw::System& system) {
  const Work w = work(op, Point{}, system);
  for (std::size_t i = 0; i < w.flop.size(); ++i) {
    if (w.flop[i] > 0 && !(system.gpu.peak[i].value() > 0)) {
      return Error::bad_input(
          fmt::format("{}: {} has no {} peak rate; choose a format it can multiply, or give the "
                      "peak in the system's description",
                      family(op), system.name, kPipeNames[i]));
    }
  }
  return {};
}

Ms roofline(const Op& op, const Point& at, const hw::System& system) {
  const Work w = work(op, at, system);
  Ms math{};
  for (std::size_t i = 0; i < w.flop.size(); ++i) {
    if (w.flop[i] > 0) math += time_of(Flop(w.flop[i]), system.gpu.peak[i]);
  }
  const Ms memory = time_of(w.bytes, system.gpu.memory_bw);
  const Ms link = w.link_bytes > 0 ? time_of(w.link_bytes, w.link) : Ms{};
  return std::max({math, memory, link});
}

}  // namespace setpoint::ops
