// SPDX-License-Identifier: Apache-2.0
// vLLM: `vllm serve MODEL`. Limits are per data-parallel rank, as the search counts them. Over
// several nodes every node runs the same command with its rank; all but the first are headless.
// How ranks follow from --nnodes and --node-rank: vllm/engine/arg_utils.py, 0.14.0 to 0.33.0.
#include <algorithm>
#include <array>

#include "base/json.h"
#include "generate/mapping.h"

namespace setpoint::generate {
namespace {

bool disagg(const Subject& s) { return s.settings.mode == Mode::disagg; }
bool several_nodes(const Subject& s) { return s.role.nodes > 1; }
bool dp_over_nodes(const Subject& s) { return several_nodes(s) && s.role.shard.dp > 1; }
bool serves(const Subject& s) { return s.place.first_node; }  // the others have no HTTP server

// A step smaller than the longest request is only allowed with chunks (the engine's own check);
// a decode worker needs it for a prompt that it has to compute again.
bool chunked(const Subject& s) {
  return s.role.chunk_tokens > 0 || s.role.max_tokens < s.role.max_len;
}

// Captured sizes count tokens; a request brings its draft tokens along.
Value capture_sizes(const Subject& s) {
  std::vector<std::int64_t> tokens = s.role.graph_sizes;
  for (std::int64_t& size : tokens) size *= s.settings.nextn + 1;
  return words(tokens);
}

Value speculative(const Subject& s) {
  if (s.settings.nextn == 0) return kUnsaid;
  return word(
      base::json_text(base::Json{{"method", "mtp"}, {"num_speculative_tokens", s.settings.nextn}}));
}

Value connector(const Subject& s) {
  if (!disagg(s)) return kUnsaid;
  return word(
      base::json_text(base::Json{{"kv_connector", "NixlConnector"}, {"kv_role", "kv_both"}}));
}

using S = const Subject&;
constexpr std::array kRows{
    Row{"--served-model-name", [](S s) { return word(s.settings.served_name); }},
    Row{"--host", [](S s) { return as_given(serves(s), s.place.host); }},
    Row{"--port", [](S s) { return word_if(serves(s), s.place.http_port); }},
    Row{"--tensor-parallel-size", [](S s) { return word(s.role.shard.tp); }},
    Row{"--pipeline-parallel-size",
        [](S s) { return word_if(s.role.shard.pp > 1, s.role.shard.pp); }},
    Row{"--data-parallel-size", [](S s) { return word_if(s.role.shard.dp > 1, s.role.shard.dp); }},
    Row{"--enable-expert-parallel", [](S s) { return bare(s.role.shard.moe_ep > 1); }},
    Row{"--max-num-seqs", [](S s) { return word(s.role.max_requests); }},
    Row{"--max-num-batched-tokens", [](S s) { return word(s.role.max_tokens); }},
    Row{"--max-model-len", [](S s) { return word(s.role.max_len); }},
    Row{"--gpu-memory-utilization", [](S s) { return word(share(s.role.kv_fraction)); }},
    Row{"--kv-cache-dtype", [](S s) { return word(s.role.fp8_kv ? "fp8" : "auto"); }},
    Row{"--block-size", [](S s) { return word_if(s.role.kv_page > 0, s.role.kv_page); }},
    Row{"--quantization", [](S s) { return text_if(s.role.online_fp8, "fp8"); }},
    Row{"--enable-chunked-prefill", [](S s) { return bare(chunked(s)); }},
    Row{"--no-enable-chunked-prefill", [](S s) { return bare(!chunked(s)); }},
    Row{"--no-enable-prefix-caching", [](S s) { return bare(!s.settings.prefix_cache); }},
    Row{"--cudagraph-capture-sizes", capture_sizes},
    Row{"--moe-backend", [](S s) { return named(s.role.moe_backend); }},
    Row{"--all2all-backend", [](S s) { return named(s.role.a2a_backend); }},
    Row{"--speculative-config", speculative},
    Row{"--kv-transfer-config", connector},
    Row{"--trust-remote-code", [](S s) { return bare(s.settings.trust_remote_code); }},
    Row{"--nnodes", [](S s) { return word_if(several_nodes(s), s.role.nodes); }},
    Row{"--node-rank", [](S s) { return as_given(several_nodes(s), s.place.node_rank); }},
    Row{"--master-addr", [](S s) { return as_given(several_nodes(s), s.place.head_address); }},
    Row{"--master-port", [](S s) { return word_if(several_nodes(s), s.place.head_port); }},
    Row{"--data-parallel-size-local",
        [](S s) {
          return word_if(dp_over_nodes(s),
                         std::max<std::int64_t>(s.role.shard.dp / s.role.nodes, 1));
        }},
    Row{"--data-parallel-address",
        [](S s) { return as_given(dp_over_nodes(s), s.place.head_address); }},
    Row{"--data-parallel-rpc-port",
        [](S s) { return word_if(dp_over_nodes(s), s.place.rpc_port); }},
    Row{"--headless", [](S s) { return bare(several_nodes(s) && !s.place.first_node); }},
};

}  // namespace

Result<Command> vllm_worker(const Subject& subject) {
  const std::int64_t dp = subject.role.shard.dp;
  const std::int64_t nodes = subject.role.nodes;
  if (dp % nodes != 0 && nodes % dp != 0) {
    return Error::bad_input("dp: vLLM spreads " + std::to_string(dp) +
                            " data-parallel ranks over nodes evenly, found " +
                            std::to_string(nodes) + " nodes");
  }
  Command command;
  command.argv = {{"vllm"}, {"serve"}, {subject.settings.model}};
  SP_TRY(const auto said, arguments(kRows, subject, command.notes));
  command.argv.insert(command.argv.end(), said.begin(), said.end());
  if (disagg(subject)) {
    command.environment = {
        {"VLLM_NIXL_SIDE_CHANNEL_HOST", subject.place.own_address},
        {"VLLM_NIXL_SIDE_CHANNEL_PORT", {std::to_string(subject.place.side_channel_port)}}};
  }
  return command;
}

}  // namespace setpoint::generate
