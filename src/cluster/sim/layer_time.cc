// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/layer_time.h"

#include <algorithm>
#include <cmath>

namespace setpoint::cluster {
namespace {

constexpr double kUs = 1e-3;  // milliseconds
constexpr double kBf16 = 2;   // bytes
// Collectives of one layer part under tensor parallelism with sequence parallelism: gather and
// scatter forward, both backward, and the input gathered once more for the weight gradient.
constexpr double kTpCollectives = 5;
// Compute capabilities: Hopper, and Blackwell Ultra with its doubled exponential throughput.
constexpr int kBlackwell = 100;
constexpr int kBlackwellUltra = 103;
constexpr std::size_t kBf16Pipe = 0, kFp8Pipe = 2, kFp4Pipe = 3;  // order of hw::Gpu::peak

// One micro-batch's view of a GPU: rates resolved once, then plain arithmetic.
struct Clock {
  const TrainModel& m;
  const Layout& at;
  const Machine& on;
  double tokens, tp;

  Clock(const TrainModel& model, const Layout& layout, const Machine& machine)
      : m(model),
        at(layout),
        on(machine),
        tokens(micro_tokens(layout)),
        tp(static_cast<double>(layout.tp)) {}

  const Constants& k() const { return on.constants; }
  double peak(std::size_t pipe) const {
    const double stated = on.system.gpu.peak[pipe].value();
    const double bf16 = on.system.gpu.peak[kBf16Pipe].value();
    return stated > 0 ? stated : bf16;  // no such units: the values are computed in BF16
  }
  // Large products run into the board's power limit; generations differ in energy per operation,
  // so that only boards of one generation are compared.
  double power_factor() const {
    const hw::Gpu& gpu = on.system.gpu;
    if (gpu.sm < kBlackwell || gpu.power_w <= 0) return 1;
    const double watts_per_pflops = gpu.power_w / (gpu.peak[kBf16Pipe].value() / 1e15);
    return std::pow(watts_per_pflops / k().blackwell_watts_per_pflops, k().power_exponent);
  }
  FlopPerS gemm_rate(Precision precision) const {
    return FlopPerS(full_power_rate(precision).value() * power_factor());
  }
  FlopPerS full_power_rate(Precision precision) const {
    switch (precision) {
      case Precision::bf16:
        return FlopPerS(peak(kBf16Pipe) * k().gemm_bf16);
      case Precision::fp8:
        return FlopPerS(peak(kFp8Pipe) * k().gemm_fp8);
      case Precision::mxfp8:
        return FlopPerS(peak(kFp8Pipe) * k().gemm_mxfp8);
      case Precision::nvfp4:
        return FlopPerS(peak(kFp4Pipe) * k().gemm_fp4);
    }
    return {};
  }
  double cast_bytes() const {
    switch (at.precision) {
      case Precision::bf16:
        return 0;
      case Precision::fp8:
        return k().cast_bytes_fp8;
      case Precision::mxfp8:
        return k().cast_bytes_mxfp8;
      case Precision::nvfp4:
        return k().cast_bytes_fp4;
    }
    return 0;
  }
  // rows x width x depth; small ones leave units idle.
  Ms gemm(double rows, double width, double depth, Precision precision) const {
    const double filled = rows / (rows + k().half_rows) * width / (width + k().half_width) * depth /
                          (depth + k().half_width);
    return time_of(Flop(2 * rows * width * depth), gemm_rate(precision)) / filled;
  }
  Ms gemm(double rows, double width, double depth) const {
    return gemm(rows, width, depth, at.precision);
  }
  Ms pass(double bytes) const {
    return time_of(bytes, on.system.gpu.memory_bw) / on.system.gpu.memory_efficiency;
  }
};

Ms attention_gemms(const Clock& c) {
  const TrainModel& m = c.m;
  const double t = c.tokens;
  const double out = m.heads * m.v_dim() / c.tp;
  if (!m.mla) {
    const double qkv = (m.heads + 2 * m.kv_heads) * m.head_dim / c.tp;
    return c.gemm(t, qkv, m.hidden) + c.gemm(t, m.hidden, out);
  }
  const Mla& a = *m.mla;
  Ms time = c.gemm(t, a.kv_lora + a.rope, m.hidden) +
            c.gemm(t, m.heads * (a.nope + a.v) / c.tp, a.kv_lora) + c.gemm(t, m.hidden, out);
  const double query = m.heads * m.qk_dim() / c.tp;
  if (a.q_lora > 0) return time + c.gemm(t, a.q_lora, m.hidden) + c.gemm(t, query, a.q_lora);
  return time + c.gemm(t, query, m.hidden);
}

Ms attention_core(const Clock& c) {
  const int sm = c.on.system.gpu.sm;
  double share = sm >= kBlackwellUltra ? c.k().attention_ultra
                 : sm >= kBlackwell    ? c.k().attention_blackwell
                                       : c.k().attention_hopper;
  if (c.at.fp8_attention) share *= c.k().attention_fp8;
  if (!c.at.flash_attention) share = c.k().attention_unfused;
  const double flops =
      2 * c.tokens * c.m.heads / c.tp * (c.m.qk_dim() + c.m.v_dim()) * c.at.sequence / 2;
  return time_of(Flop(flops), FlopPerS(c.peak(kBf16Pipe) * share));
}

double attention_bytes(const Clock& c) {
  const double heads = c.m.heads + 2 * (c.m.mla ? c.m.heads : c.m.kv_heads);
  const double out = c.m.heads * c.m.v_dim();
  return c.tokens / c.tp *
         (c.k().norm_bytes / 2 * c.m.hidden + c.k().rope_bytes * heads * c.m.qk_dim() +
          c.cast_bytes() * (c.m.hidden + out));
}

Ms mlp_gemms(const Clock& c, double width) {
  if (width <= 0) return {};
  const double up = (c.m.gated ? 2 : 1) * width / c.tp;
  return c.gemm(c.tokens, up, c.m.hidden) + c.gemm(c.tokens, c.m.hidden, width / c.tp);
}

double mlp_bytes(const Clock& c, double width) {
  if (width <= 0) return 0;
  const double activation = c.m.gated ? c.k().activation_bytes : c.k().activation_bytes * 2 / 3;
  return c.tokens / c.tp * (activation * width + c.cast_bytes() * (c.m.hidden + width));
}

Ms expert_gemms(const Clock& c) {
  const auto ep = static_cast<double>(c.at.ep);
  const auto etp = static_cast<double>(c.at.etp);
  const double rows = c.tokens / c.tp * c.m.topk * ep * etp / c.m.experts;
  const double up = (c.m.gated ? 2 : 1) * c.m.moe_ffn / etp;
  const double local = c.m.experts / ep;
  return local * (c.gemm(rows, up, c.m.hidden) + c.gemm(rows, c.m.hidden, c.m.moe_ffn / etp));
}

double expert_bytes(const Clock& c) {
  const double passes = c.at.permute_fused ? c.k().permute_passes_fused : c.k().permute_passes;
  const double activation = c.m.gated ? c.k().activation_bytes : c.k().activation_bytes * 2 / 3;
  double inside = activation * c.m.moe_ffn + c.cast_bytes() * (c.m.hidden + c.m.moe_ffn);
  if (c.at.experts_fused) inside *= c.k().fused_expert_share;
  return c.tokens / c.tp *
         (c.k().norm_bytes / 2 * c.m.hidden + c.m.topk * (passes * kBf16 * c.m.hidden + inside));
}

// Four exchanges: to the experts and back, forward and backward. NCCL's all-to-all sends a token
// once per expert; DeepEP and HybridEP once per node and spread it there.
Ms expert_exchange(const Clock& c) {
  if (c.at.ep * c.at.etp == 1) return {};
  const auto group = static_cast<double>(c.at.ep * c.at.etp);
  const auto domain = std::min(static_cast<double>(nvlink_domain(c.on.system)), group);
  const bool flex = c.at.dispatch == Dispatch::flex;
  const double share = flex ? c.k().flex_share : c.k().alltoall_share;
  const double copy = c.tokens / c.tp * c.m.hidden * kBf16;
  const double nodes = group / domain;
  const double remote =
      flex ? (nodes - 1) * (1 - std::pow(1 - 1 / nodes, c.m.topk)) : c.m.topk * (1 - 1 / nodes);
  const double local = c.m.topk * (domain - 1) / domain * (flex ? 1 : 1 / nodes);
  const hw::Node& node = c.on.system.node;
  const Ms inside = time_of(copy * local, node.intra_node_bw) / share;
  const BytesPerS nic = c.on.system.link_bw(c.at.ep * c.at.etp);
  const Ms across = remote > 0 ? time_of(copy * remote, nic) / share : Ms{};
  const Ms once = std::max(inside, across);
  return 4 * once * (c.at.ep_overlap ? 1 - c.k().ep_overlap : 1.0);
}

Ms tp_exchange(const Clock& c) {
  if (c.at.tp == 1) return {};
  const double collectives = c.at.sequence_parallel ? kTpCollectives : 4;
  const double bytes = c.tokens * c.m.hidden * kBf16 * (c.tp - 1) / c.tp;
  const Ms one = time_of(bytes, group_bw(c.on, c.at.tp));
  return collectives * one * (c.at.tp_overlap ? 1 - c.k().tp_overlap : 1.0);
}

Ms cp_exchange(const Clock& c) {
  if (c.at.cp == 1) return {};
  const double heads = c.m.mla ? c.m.heads : c.m.kv_heads;
  const double block = 2 * c.tokens * heads / c.tp * c.m.qk_dim() * kBf16;
  const Ms one = time_of(block, group_bw(c.on, c.at.tp * c.at.cp));
  return 3 * static_cast<double>(c.at.cp - 1) * one * (1 - c.k().cp_overlap);
}

// What the host needs to launch a layer, and what of it the GPU must wait for: how many tokens each
// local expert got is known only on the device, and its many short kernels are launched after that.
void add_host(const Clock& c, const Layer& layer, LayerTime& time) {
  if (c.at.graphs == Graphs::step) return;
  const bool captured = c.at.graphs == Graphs::layers && (c.at.attention_graphed || !layer.moe);
  double kernels = captured ? 0 : c.k().dense_kernels;
  if (layer.moe) {
    kernels += c.at.graphs == Graphs::layers ? 0 : c.k().moe_kernels;
    const bool bf16 = c.at.precision == Precision::bf16;
    double expert = (bf16 ? c.k().expert_kernels : c.k().expert_kernels_fp8) * c.m.experts /
                    static_cast<double>(c.at.ep) * (c.at.grouped ? 1 : 2);
    if (c.at.capacity) {
      kernels += expert;
    } else {
      time.host_exposed = Ms(expert * c.k().launch_us * kUs);
    }
  }
  time.host = Ms(kernels * c.k().launch_us * kUs);
}

void add_mamba(const Clock& c, LayerTime& time) {
  const Mamba& s = c.m.mamba;
  const double in = (2 * s.inner() + 2 * s.groups * s.state + s.heads) / c.tp;
  time.gemm += c.gemm(c.tokens, in, c.m.hidden) + c.gemm(c.tokens, c.m.hidden, s.inner() / c.tp);
  // A third of the scan's work (7 of 21) is the forward pass.
  const double scan = 7 * c.tokens * s.inner() / c.tp * s.state;
  time.passes += time_of(Flop(scan), FlopPerS(c.peak(kBf16Pipe) * c.k().scan_share));
  time.passes += c.pass(c.tokens / c.tp *
                        (c.k().norm_bytes / 2 * c.m.hidden + c.k().scan_bytes * s.inner() +
                         c.cast_bytes() * (c.m.hidden + s.inner())));
}

}  // namespace

double micro_tokens(const Layout& layout) {
  return layout.sequence * static_cast<double>(layout.micro_batch) / static_cast<double>(layout.cp);
}

std::int64_t nvlink_domain(const hw::System& system) {
  return std::max(system.node.gpus, system.node.gpus_per_rack);
}

BytesPerS group_bw(const Machine& machine, std::int64_t span) {
  const bool inside = span <= nvlink_domain(machine.system);
  const double share = inside ? machine.constants.nvlink_share : machine.constants.nic_share;
  return BytesPerS(machine.system.link_bw(span).value() * share);
}

LayerTime layer_time(const TrainModel& model, const Layout& layout, const Machine& machine,
                     const Layer& layer) {
  const Clock c(model, layout, machine);
  LayerTime time;
  if (layer.attention) {
    time.gemm += attention_gemms(c);
    time.attention += attention_core(c);
    time.passes += c.pass(attention_bytes(c));
    time.tp += tp_exchange(c);
    time.cp += cp_exchange(c);
  }
  if (layer.dense) {
    time.gemm += mlp_gemms(c, model.ffn);
    time.passes +=
        c.pass(mlp_bytes(c, model.ffn) + c.tokens / c.tp * c.k().norm_bytes / 2 * model.hidden);
    time.tp += tp_exchange(c);
  }
  if (layer.moe) {
    time.gemm += mlp_gemms(c, model.shared_ffn) +
                 c.gemm(c.tokens / c.tp, model.experts, model.hidden, Precision::bf16);
    time.experts += expert_gemms(c);
    time.passes += c.pass(expert_bytes(c) + mlp_bytes(c, model.shared_ffn));
    time.ep += expert_exchange(c);
  }
  if (layer.mamba) {
    add_mamba(c, time);
    time.tp += tp_exchange(c);
  }
  add_host(c, layer, time);
  return time;
}

LayerTime head_time(const TrainModel& model, const Layout& layout, const Machine& machine) {
  const Clock c(model, layout, machine);
  LayerTime time;
  time.gemm = c.gemm(c.tokens, model.vocab / c.tp, model.hidden, Precision::bf16);
  time.passes =
      c.pass(c.tokens * model.vocab / c.tp * c.k().logit_bytes) / (1 + c.k().backward_passes);
  return time;
}

}  // namespace setpoint::cluster
