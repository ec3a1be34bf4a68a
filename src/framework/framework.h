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

// Collectives around the expert layer (operators.md §8.1). N = all ranks of the expert group,
// a = attention tensor-parallel width, dp = attention data-parallel width.
enum class Dispatch : std::uint8_t {
  vllm,         // all-reduce over N when a > 1, plus gather/scatter over N when dp > 1
  sglang,       // a > 1 and dp > 1: scatter over a, gather over N; else one of the two
  trtllm,       // all-reduce when a > 1, else gather/scatter
  trtllm_sm100  // gather in the experts' format when dp > 1
};

// How the KV pool is sized from memory.
enum class KvPool : std::uint8_t {
  share_of_total,  // total * fraction - everything else (vLLM, SGLang)
  share_of_free    // (total - everything else) * fraction (TensorRT-LLM)
};

struct Memory {
  KvPool pool = KvPool::share_of_total;
  double fraction = 0.9;
  double pool_efficiency = 0.98;  // of the pool that holds tokens: block rounding, tables
  double context_factor = 1.0;    // times hw::System::context_memory
  double activation_factor = 1.0;
  // bf16 elements of activation per token and hidden element, by tp 1, 2, 4, 8+
  std::array<double, 4> dense_activation{}, moe_activation{};
  Bytes activation_floor{};
  std::int64_t activation_tokens = 0;  // build-time token limit that sizes activations; 0 = actual
  std::int64_t kv_block_tokens = 16;
};

struct Scheduler {
  std::int64_t default_token_budget = 8192;  // tokens per step
  std::int64_t default_max_requests = 256;
  bool chunked_prefill = true;
  bool prefill_stalls_decode = false;  // a prefill step carries no decodes (SGLang)
};

struct Facts {
  std::string name, version;  // version as asked; facts of the nearest lower entry
  std::string facts_version;
  Memory memory;
  Scheduler scheduler;
  std::array<Dispatch, 2> dispatch{};  // other GPUs, Blackwell data-centre GPUs (sm 100, 103)
  bool moe_tp_and_ep = true;           // moe_tp > 1 together with moe_ep > 1 can be said
  bool attention_tp_and_dp = true;     // 1 < dp < width can be said
  bool attention_dp = true;            // attention data parallelism for MoE models
  bool context_parallel = false;
  bool mla_module_tables = true;  // tables hold MLA with its projections in one piece
  std::string version_note;       // said when the facts of another version were taken

  Dispatch dispatch_for(const hw::System& system) const;
  // KV format when neither checkpoint nor user names one.
  ops::Quant default_kv(const hw::System& system, ops::Quant gemm) const;
};

Result<Facts> find_facts(const std::string& framework, const std::string& version);
const std::vector<std::string>& framework_names();  // vllm sglang trtllm
// The table snapshot's current version for a system (operators.md §2.1).
Result<std::string> current_version(const std::string& framework, const std::string& system);

}  // namespace setpoint::framework
