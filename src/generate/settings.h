// SPDX-License-Identifier: Apache-2.0
// What the engines of a deployment must be told, before any engine's flags: one RoleSettings for
// each kind of worker. Every number that the search promised (batch, memory, lengths) becomes a
// limit here, so that what runs is what was predicted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/framework.h"
#include "setpoint/generate.h"

namespace setpoint::generate {

// One kind of worker: `mixed` alone, or `prefill` and `decode`.
struct RoleSettings {
  Role role = Role::mixed;
  std::int64_t workers = 1;  // over the whole deployment: count of a replica x replicas
  std::string system;
  model::Shard shard;
  std::int64_t gpus = 1;           // of one worker, the search's count: never derived from flags
  std::int64_t gpus_per_node = 8;  // of the machines it runs on
  std::int64_t nodes = 1;          // that one worker spans
  std::int64_t gpus_on_node = 1;   // of one worker on each of its nodes = gpus / nodes

  std::int64_t max_requests = 1;      // running at once, per data-parallel rank: the found batch
  std::int64_t max_tokens = 1;        // of one step, per rank; covers draft tokens
  std::int64_t chunk_tokens = 0;      // prompt tokens of one step, 0 = prompts are not chunked
  std::int64_t max_len = 0;           // longest request, tokens in and out
  std::int64_t kv_page = 0;           // tokens of one KV block, 0 = the engine's own
  std::int64_t kv_buffer_tokens = 0;  // of the transfer between pools (TensorRT-LLM), 0 = none
  double kv_fraction = 0;             // memory share, counted as this engine counts it
  bool fp8_kv = false;                // else the model's own type
  bool online_fp8 = false;            // a 16-bit checkpoint is to be served in fp8
  std::vector<std::int64_t> graph_sizes;  // requests; sorted, unique, ending in max_requests
  // Kernels of the experts, way between their ranks, by the engine's names; "" = its own choice,
  // which is what the predicted figures rest on.
  std::string moe_backend, a2a_backend;
  bool operator==(const RoleSettings&) const = default;
};

struct Settings {
  std::string framework;
  std::string engine_version;  // to be started
  std::string table_version;   // whose measurements the predicted figures rest on
  Mode mode = Mode::agg;
  std::string model, served_name;  // what to load, what clients ask for
  bool moe = false;
  int nextn = 0;  // draft tokens a step, on both roles
  bool prefix_cache = true;
  bool trust_remote_code = false;  // the model brings code of its own that must run
  bool lenient = false;            // what a version cannot say is left out with a note
  Workload workload;
  std::vector<RoleSettings> roles;
  std::vector<std::string> warnings;

  const RoleSettings* role(Role wanted) const;
  std::int64_t gpus() const;  // of the whole deployment
};

// Invariants first (layout, nodes, what the framework can say), then the derived values. An error
// names the field: `decode.batch: 128 requests of 5000 tokens need 61.2 GiB of KV, ...`.
Result<Settings> settings(const Deployment& deployment, const Options& options);

// 1 2 4 8 16 24 .. 256 288 .. and `batch` itself: sorted, unique, none above it.
std::vector<std::int64_t> graph_sizes(std::int64_t batch);

}  // namespace setpoint::generate
