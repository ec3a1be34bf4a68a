// SPDX-License-Identifier: Apache-2.0
// What a serving framework does, per version, as facts: scheduler rules, memory reserve, default
// number formats, how it moves tokens to experts. Read from perfdb/frameworks/<name>.json; the flag
// table of the same file serves `generate`. No code elsewhere compares a framework's name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/system.h"
#include "ops/quant.h"
#include "setpoint/result.h"

namespace setpoint::framework {

// Collectives around the expert layer. N = all ranks of the expert group, a = attention
// tensor-parallel width, dp = attention data-parallel width (AIConfigurator 0.12.0 dispatch rules).
enum class Dispatch : std::uint8_t {
  vllm,         // all-reduce over N when a > 1, plus gather/scatter over N when dp > 1
  sglang,       // a > 1 and dp > 1: scatter over a, gather over N; else one of the two
  trtllm,       // all-reduce when a > 1, else gather/scatter
  trtllm_sm100  // gather in the experts' format when dp > 1
};

// How the KV pool is sized from memory.
enum class KvPool : std::uint8_t {
  share_of_total,  // total * fraction - everything else, activations included (vLLM)
  share_static,    // total * fraction - everything else but activations, which the engine holds in
                   // the rest (SGLang)
  share_of_free    // (total - everything else) * fraction (TensorRT-LLM)
};

// Where a worker runs, as far as an engine's own defaults look at it.
struct Place {
  Bytes memory{};  // of one GPU
  int sm = 0;
  int width = 1;  // GPUs of one pipeline stage: tensor x attention data parallel
  int pp = 1, dp = 1;
};

// What an engine sets aside, in MiB, when it derives its memory share itself (SGLang server
// arguments; all zero: the share is the fixed `fraction`).
struct StaticReserve {
  double base = 0, per_chunk_token = 0, per_gpu = 0, per_graph_request = 0;
  double per_graph_request_dp = 0;        // per request and attention rank, dp > 1
  double per_large_graph_request_dp = 0;  // further, when graphs exceed large_graph requests
  double large_graph = 0;
  double least = 0;     // at least this much ...
  Bytes least_above{};  // ... on GPUs larger than this
};

struct Memory {
  KvPool pool = KvPool::share_of_total;
  double fraction = 0.9;  // the engine's default when StaticReserve is empty
  StaticReserve reserve;
  double pool_efficiency = 0.98;  // of the pool that holds tokens: block rounding, tables
  double context_factor = 1.0;    // times hw::System::context_memory
  double activation_factor = 1.0;
  // bf16 elements of activation per token and hidden element, by tp 1, 2, 4, 8+
  std::array<double, 4> dense_activation{}, moe_activation{};
  // models with latent attention and experts: bytes per token copy and hidden element, times
  // experts / workspace_experts (a workspace measured at that many experts)
  double workspace_bytes = 0, workspace_experts = 1;
  Bytes activation_floor{};
  std::int64_t activation_tokens = 0;  // build-time token limit that sizes activations; 0 = actual
  std::int64_t kv_block_tokens = 16;

  // Elements per token and hidden element at any tp: between the tabled widths linear in log2(tp).
  double activation(bool moe, int tp) const;
};

// Default limits of one engine.
struct Limits {
  std::int64_t token_budget = 8192;  // tokens per step
  std::int64_t max_requests = 256;   // running at once
  std::int64_t graph_requests = 0;   // largest batch of a captured decode graph, 0 = not known
};
// The first tier that a place reaches holds.
struct Tier {
  Bytes memory{};
  int sm = 0, width = 1;
  Limits limits;
};

// How waiting for the first token is corrected (constants: src/serve/constants.h).
enum class QueueLaw : std::uint8_t {
  steps,  // by the number of steps that prefill a batch (TensorRT-LLM, SGLang)
  batch   // by the batch, beside a launch time per layer (vLLM)
};

struct Scheduler {
  QueueLaw queue = QueueLaw::steps;
  std::vector<Tier> tiers;
  bool chunked_prefill = true;
  bool prefill_stalls_decode = false;  // a prefill step carries no decodes (SGLang)
};

// What starting an engine must respect beyond the names of its flags.
struct Launch {
  std::int64_t prompt_slack = 0;  // tokens a step may hold beyond the nominal prompt
  std::int64_t chunk_step = 1;  // chunk sizes are multiples of this: of every KV page it may choose
  bool whole_blocks = false;    // lengths and token limits must be whole KV blocks
  bool transfer_buffer = false;  // KV moves between pools through a buffer sized in tokens
  bool online_fp8 = false;       // can serve a 16-bit checkpoint in fp8
  bool pool_router = false;      // has a program that routes between prefill and decode workers
  // Bounds of the memory share that is written; above, the engine's own default may go further.
  double least_share = 0, most_share = 1;
};

struct Facts {
  std::string name, version;  // version as asked; facts of the nearest lower entry
  std::string facts_version;
  Memory memory;
  Scheduler scheduler;
  Launch launch;
  std::array<Dispatch, 2> dispatch{};  // other GPUs, Blackwell data-centre GPUs (sm 100, 103)
  bool moe_tp_and_ep = true;           // moe_tp > 1 together with moe_ep > 1 can be said
  bool attention_tp_and_dp = true;     // 1 < dp < width can be said
  bool attention_dp = true;            // attention data parallelism for MoE models
  bool context_parallel = false;
  // A GPU's part of an expert in block-scaled fp8 that is no whole number of blocks: the smallest
  // block that the engine cuts the checkpoint's blocks to; 0 = it refuses to load the model.
  std::int64_t expert_block_least = 0;
  bool mla_module_tables = true;              // tables hold MLA with its projections in one piece
  ops::Quant kv_auto = ops::Quant::bfloat16;  // KV format of `auto` on a checkpoint that names none
  // Format in which prefill attention with KV heads multiplies when the KV cache is fp8; which
  // combinations the public tables of each framework hold shows what its kernels do.
  ops::Quant fp8_kv_fmha = ops::Quant::bfloat16;
  // Format that mxfp4 experts are multiplied in on GPUs with fp4 units: TensorRT-LLM quantises the
  // activations there (its get_mxfp4_quant_algo: W4A8_MXFP4_MXFP8 from sm 100 on).
  ops::Quant mxfp4_sm100 = ops::Quant::w4a16_mxfp4;
  std::string version_note;  // said when the facts of another version were taken

  Dispatch dispatch_for(const hw::System& system) const;
  Limits limits(const Place& place) const;
  // Share of memory by the engine's own default (of the total or of what is free, by memory.pool).
  double memory_fraction(const Place& place) const;
  // KV format when neither checkpoint nor user names one. No version so far looks at the GPU or
  // the weights: every engine's `auto` is the model's own 16-bit type.
  ops::Quant default_kv(const hw::System& system, ops::Quant gemm) const;
};

// `version` empty: the current one. A version between or outside those that were read gets the
// facts of the nearest lower one (the lowest, if there is none) and a version_note.
Result<Facts> find_facts(const std::string& framework, const std::string& version);
const std::vector<std::string>& framework_names();  // vllm sglang trtllm
// The version whose tables the public snapshot holds in full for a system.
Result<std::string> current_version(const std::string& framework, const std::string& system);

}  // namespace setpoint::framework
