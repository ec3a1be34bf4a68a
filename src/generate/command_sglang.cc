// SPDX-License-Identifier: Apache-2.0
// SGLang: `python3 -m sglang.launch_server`. Data parallelism lives inside the tensor-parallel
// group: a worker of tp x dp GPUs has --tp-size tp*dp. Request and chunk limits are given for the
// whole worker; the engine divides them by its attention ranks (sglang/srt/server_args.py,
// model_executor, 0.5.6.post2 to 0.5.23).
#include <array>

#include "generate/mapping.h"

namespace setpoint::generate {
namespace {

bool disagg(const Subject& s) { return s.settings.mode == Mode::disagg; }
bool drafts(const Subject& s) { return s.settings.nextn > 0; }
bool prefills(const Subject& s) { return s.role.role != Role::decode; }
bool several_nodes(const Subject& s) { return s.role.nodes > 1; }
std::int64_t dp(const Subject& s) { return s.role.shard.dp; }

// From 0.5.23 on --dp-size counts replicas of the model and attention ranks have a flag of their
// own; the older pair still parses there, but is deprecated.
constexpr const char* kAttentionRanks = "--attn-dp-size";
bool old_pair(const Subject& s) { return dp(s) > 1 && !s.flags.has(kAttentionRanks); }
bool new_flag(const Subject& s) { return dp(s) > 1 && s.flags.has(kAttentionRanks); }

Value chunk(const Subject& s) {
  if (!prefills(s)) return kUnsaid;
  return word(s.role.chunk_tokens > 0 ? s.role.chunk_tokens * dp(s) : -1);
}

// With attention data parallelism a worker opens a run of ports at this address also on one node;
// left out, they follow from the HTTP port and those of neighbours overlap.
Value rendezvous(const Subject& s) {
  if (!several_nodes(s) && (dp(s) == 1 || s.place.head_port == 0)) return kUnsaid;
  const Word& head = s.place.head_address;
  return std::vector{Word{head.text + ":" + std::to_string(s.place.head_port), head.expands}};
}

// Context parallelism: ranks share a prompt's attention. Both ends of the prompt go to one rank, as
// causal attention balances; versions without the flag have this one way only.
bool cuts_prompts(const Subject& s) { return s.role.shard.cp > 1; }
constexpr const char* kStrategy = "--cp-strategy";
Value cp_strategy(const Subject& s) {
  return text_if(cuts_prompts(s) && s.flags.has(kStrategy), "zigzag");
}

using S = const Subject&;
// No --enable-mixed-chunk: the predicted figures are those of prefill steps without decodes, and
// the engine refuses it together with draft tokens.
constexpr std::array kRows{
    Row{"--model-path", [](S s) { return word(s.settings.model); }},
    Row{"--served-model-name", [](S s) { return word(s.settings.served_name); }},
    Row{"--host", [](S s) { return as_given(true, s.place.host); }},
    Row{"--port", [](S s) { return word(s.place.http_port); }},
    Row{"--tp-size", [](S s) { return word(s.role.shard.tp * dp(s) * s.role.shard.cp); }},
    Row{"--attn-cp-size", [](S s) { return word_if(cuts_prompts(s), s.role.shard.cp); }},
    Row{"--enable-prefill-cp|--enable-prefill-context-parallel",
        [](S s) { return bare(cuts_prompts(s)); }},
    Row{kStrategy, cp_strategy},
    Row{kAttentionRanks, [](S s) { return word_if(new_flag(s), dp(s)); }},
    Row{"--dp-size", [](S s) { return word_if(old_pair(s), dp(s)); }},
    Row{"--enable-dp-attention", [](S s) { return bare(old_pair(s)); }},
    Row{"--ep-size", [](S s) { return word_if(s.role.shard.moe_ep > 1, s.role.shard.moe_ep); }},
    Row{"--pp-size", [](S s) { return word_if(s.role.shard.pp > 1, s.role.shard.pp); }},
    Row{"--max-running-requests", [](S s) { return word(s.role.max_requests * dp(s)); }},
    Row{"--chunked-prefill-size", chunk},
    Row{"--max-prefill-tokens", [](S s) { return word_if(prefills(s), s.role.max_tokens); }},
    Row{"--context-length", [](S s) { return word(s.role.max_len); }},
    Row{"--mem-fraction-static", [](S s) { return word(share(s.role.kv_fraction)); }},
    Row{"--kv-cache-dtype", [](S s) { return word(s.role.fp8_kv ? "fp8_e4m3" : "auto"); }},
    Row{"--page-size", [](S s) { return word_if(s.role.kv_page > 0, s.role.kv_page); }},
    Row{"--quantization", [](S s) { return text_if(s.role.online_fp8, "fp8"); }},
    Row{"--disable-radix-cache", [](S s) { return bare(!s.settings.prefix_cache); }},
    Row{"--cuda-graph-bs", [](S s) { return words(s.role.graph_sizes); }},
    Row{"--moe-runner-backend", [](S s) { return named(s.role.moe_backend); }},
    Row{"--moe-a2a-backend", [](S s) { return named(s.role.a2a_backend); }},
    Row{"--speculative-algorithm", [](S s) { return text_if(drafts(s), "NEXTN"); }},
    Row{"--speculative-num-steps", [](S s) { return word_if(drafts(s), s.settings.nextn); }},
    Row{"--speculative-eagle-topk", [](S s) { return word_if(drafts(s), 1); }},
    Row{"--speculative-num-draft-tokens",
        [](S s) { return word_if(drafts(s), s.settings.nextn + 1); }},
    Row{"--disaggregation-mode",
        [](S s) { return text_if(disagg(s), prefills(s) ? "prefill" : "decode"); }},
    Row{"--disaggregation-transfer-backend", [](S s) { return text_if(disagg(s), "nixl"); }},
    Row{"--disaggregation-bootstrap-port",
        [](S s) {
          return word_if(disagg(s) && s.place.bootstrap_port > 0, s.place.bootstrap_port);
        }},
    Row{"--trust-remote-code", [](S s) { return bare(s.settings.trust_remote_code); }},
    Row{"--nnodes", [](S s) { return word_if(several_nodes(s), s.role.nodes); }},
    Row{"--node-rank", [](S s) { return as_given(several_nodes(s), s.place.node_rank); }},
    Row{"--dist-init-addr", rendezvous},
};

Word url(const PoolMember& member) {
  return {"http://" + member.address.text + ":" + std::to_string(member.http_port),
          member.address.expands};
}

}  // namespace

Result<Command> sglang_worker(const Subject& subject) {
  Command command;
  command.argv = {{"python3"}, {"-m"}, {"sglang.launch_server"}};
  SP_TRY(const auto said, arguments(kRows, subject, command.notes));
  command.argv.insert(command.argv.end(), said.begin(), said.end());
  return command;
}

// sglang_router has its own package and versions. These flags are accepted by its parser in 0.3.2
// and documented for prefill-decode disaggregation; other versions were not tried.
Router sglang_router(const Settings& settings, const FlagTable&,
                     const std::vector<PoolMember>& members, const Place& place) {
  const bool pools = settings.mode == Mode::disagg;
  if (!pools && members.size() < 2) return std::optional<Command>();
  Command command;
  command.argv = {{"python3"}, {"-m"}, {"sglang_router.launch_router"}};
  if (pools) {
    command.argv.push_back({"--pd-disaggregation"});
  } else {
    command.argv.push_back({"--worker-urls"});
  }
  for (const PoolMember& member : members) {
    const bool prefill = member.role == Role::prefill;
    if (pools) command.argv.push_back({prefill ? "--prefill" : "--decode"});
    command.argv.push_back(url(member));
    if (pools && prefill) command.argv.push_back({std::to_string(member.bootstrap_port)});
  }
  command.argv.insert(command.argv.end(),
                      {{"--host"}, place.host, {"--port"}, {std::to_string(place.http_port)}});
  return std::optional(command);
}

}  // namespace setpoint::generate
