// SPDX-License-Identifier: Apache-2.0
// Every number of the step-time and memory model that is not a fact of the GPU, the model or the
// recipe: unit; origin. They hold for all models and all recipes; none is fitted to a model or to a
// published row. docs/simulator.md prints this table.
#pragma once

namespace setpoint::cluster {

// clang-format off
struct Constants {
  double gemm_bf16 = 0.65;  // share of peak; guess: large BF16 products in training, H100 to B200
  double gemm_fp8 = 0.56;  // share of peak; guess: FP8 with per-tensor scales; 1.1 PFLOP/s on H100 at 700 W
  double gemm_mxfp8 = 0.53;  // share of peak; guess: a little under per-tensor FP8, scales per 32 values
  double gemm_fp4 = 0.38;  // share of peak; guess: NVFP4 with Hadamard transforms; the power limit binds first
  double blackwell_watts_per_pflops = 480;  // W per BF16 PFLOP/s; GB200: 1,200 W for 2.5 PFLOP/s; where the shares above hold
  double power_exponent = 0.5;  // 1; guess: clock against power where power grows with its square
  double half_rows = 192;  // rows; guess: tiles of 128 to 256 rows, half filled on average
  double half_width = 192;  // columns; guess: as half_rows, for either weight dimension
  double attention_hopper = 0.62;  // share of BF16 peak; FlashAttention-3 report: 740 forward, about 560 TFLOP/s backward on H100
  double attention_blackwell = 0.5;  // share of BF16 peak; guess: bound by exponentials; published forward rates reach 0.7 on B200
  double attention_ultra = 0.7;  // share of BF16 peak; guess: exponential throughput doubled (NVIDIA on Blackwell Ultra)
  double attention_fp8 = 1.4;  // factor; guess: FP8 products halve the matrix part only
  double attention_unfused = 0.25;  // share of BF16 peak; guess: score matrix goes through memory
  double attention_backward = 2.5;  // factor of forward; five products against two
  double norm_bytes = 16;  // B per hidden value; norm and residual, twice: each reads and writes two BF16 values
  double rope_bytes = 4;  // B per query, key, value; one BF16 read and write
  double activation_bytes = 6;  // B per gated value; reads two, writes one BF16 value; two thirds of it without a gate
  double cast_bytes_fp8 = 6;  // B per product input; absolute maximum, read, two FP8 layouts written
  double cast_bytes_mxfp8 = 5;  // B per product input; read, two layouts, scales and their swizzle
  double cast_bytes_fp4 = 6;  // B per product input; maximum, read with transform, two layouts
  double permute_passes = 8;  // BF16 values per routed hidden; sort and unsort before and after the exchange
  double permute_passes_fused = 4;  // BF16 values per routed hidden; the local sort joins the exchange
  double fused_expert_share = 0.4;  // factor; guess: casts and activation inside the grouped product
  double logit_bytes = 16;  // B per logit; fused loss in FP32 from BF16 logits, both passes
  double backward_passes = 2;  // factor of forward; gradients of input and of output
  double scan_share = 0.1;  // share of BF16 peak; guess: chunked scan kernels in Triton
  double scan_bytes = 24;  // B per inner channel; convolution, scan and gated norm, BF16 in and out
  double nvlink_share = 0.75;  // share of link; NCCL bus bandwidth of large messages, about 340 of 450 GB/s on H100
  double nic_share = 0.8;  // share of link; NCCL over 400 Gbit/s adapters, large messages
  double alltoall_share = 0.6;  // factor; guess: NCCL sends many unequal parts
  double flex_share = 0.8;  // factor; guess: DeepEP and HybridEP kernels
  double tp_overlap = 0.65;  // share hidden; guess: user-buffer overlap of gathers and scatters
  double cp_overlap = 0.9;  // share hidden; guess: ring beside attention of the block before
  double ep_overlap = 0.75;  // share hidden; guess: beside the other micro-batch
  double p2p_overlap = 0.85;  // share hidden; guess: interleaved schedule
  double dp_overlap = 0.9;  // share of a micro-batch; guess: backward of the last one hides the reduction
  double fsdp_contention = 0.06;  // share of compute; guess: gathers take multiprocessors and memory bandwidth
  double launch_us = 6;  // us per kernel; guess: eager PyTorch and Transformer Engine, 5 to 10
  double dense_kernels = 70;  // kernels per layer; guess: attention and dense part, both passes
  double moe_kernels = 160;  // kernels per layer; guess: router, sort, exchange, both passes
  double expert_kernels = 12;  // kernels per local expert; guess: three products, both passes
  double expert_kernels_fp8 = 40;  // kernels per local expert; guess: the same with casts of both layouts
  double step_gap_ms = 25;  // ms per step; guess: data loading, logging, optimizer launch
  double adam_bytes = 28;  // B per weight; gradient, master, two moments read; three and the weight written
  double host_bw = 5.00e10;  // B/s per GPU; guess: two-socket DDR5 shared by eight GPUs, under Adam
  double host_bw_c2c = 1.50e11;  // B/s per GPU; guess: Grace LPDDR5X shared by two GPUs
  double host_link_bw = 5.00e10;  // B/s; PCIe 5 x16, about 80 % of 63 GB/s
  double host_link_bw_c2c = 2.00e11;  // B/s; guess: NVLink-C2C, 450 GB/s a direction nominal
  double imbalance = 1.15;  // factor; guess: fullest rank against mean with an auxiliary loss
  double reserve_bytes = 6.0 * 1024 * 1024 * 1024;  // B; guess: context, collective library, allocator
  double certain_share = 0.96;  // share of memory; guess: below it a run fits, above 2 - this it never does
};
// clang-format on

}  // namespace setpoint::cluster
