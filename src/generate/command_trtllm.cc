// SPDX-License-Identifier: Apache-2.0
// TensorRT-LLM: `trtllm-serve MODEL` with nearly everything in an options file, which every version
// reads; the command line has most of it only late. Attention data parallelism is a switch: it
// spans the whole tensor-parallel width.
#include <algorithm>
#include <array>

#include "generate/mapping.h"
#include "generate/yaml.h"

namespace setpoint::generate {
namespace {

bool disagg(const Subject& s) { return s.settings.mode == Mode::disagg; }
bool serves(const Subject& s) { return s.place.http_port > 0; }
bool drafts(const Subject& s) { return s.settings.nextn > 0; }
bool mpi(const Subject& s) { return s.role.nodes > 1 || s.place.slurm; }

// The first of these that the version offers, else nothing.
Value offered(const Subject& s, const char* key, std::initializer_list<const char*> names) {
  const auto flag = s.flags.find(key);
  if (!flag) return kUnsaid;
  for (const char* name : names) {
    if (std::count(flag->choices.begin(), flag->choices.end(), name) > 0) return word(name);
  }
  return kUnsaid;
}

// By its own choice where there is such a value; versions without it have one fixed default.
Value moe_backend(const Subject& s) {
  if (!s.settings.moe) return kUnsaid;
  if (!s.role.moe_backend.empty()) return word(s.role.moe_backend);
  return offered(s, "moe_config.backend", {"AUTO"});
}

// Spelled in lower case in 1.0.
Value transceiver(const Subject& s) {
  return disagg(s) ? offered(s, "cache_transceiver_config.backend", {"NIXL", "nixl"}) : kUnsaid;
}

// Versions without the flag answer to the model's own name only.
constexpr const char* kServedName = "--served_model_name";
Value served_name(const Subject& s) {
  const bool own = s.settings.served_name == s.settings.model;
  return text_if(!own || s.flags.has(kServedName), s.settings.served_name);
}

using S = const Subject&;
// Limits stand in both places: early versions check those of the file against the command line's,
// whose defaults are smaller (1.0: max_num_tokens 8192; its llm_args.py raises). A worker without a
// port of its own runs inside another program (Dynamo's), which does not know these flags.
constexpr std::array kCommandLine{
    Row{"--host", [](S s) { return as_given(true, s.place.host); }},
    Row{"--port", [](S s) { return word(s.place.http_port); }},
    Row{kServedName, served_name},
    Row{"--max_batch_size", [](S s) { return word_if(serves(s), s.role.max_requests); }},
    Row{"--max_num_tokens", [](S s) { return word_if(serves(s), s.role.max_tokens); }},
    Row{"--max_seq_len", [](S s) { return word_if(serves(s), s.role.max_len); }},
    Row{"--config|--extra_llm_api_options", [](S s) { return word(s.place.config_path); }},
};

constexpr std::array kOptions{
    Row{"tensor_parallel_size", [](S s) { return word(s.role.shard.tp * s.role.shard.dp); }},
    Row{"pipeline_parallel_size",
        [](S s) { return word_if(s.role.shard.pp > 1, s.role.shard.pp); }},
    Row{"moe_expert_parallel_size",
        [](S s) { return word_if(s.settings.moe, s.role.shard.moe_ep); }},
    Row{"moe_tensor_parallel_size",
        [](S s) { return word_if(s.settings.moe, s.role.shard.moe_tp); }},
    Row{"enable_attention_dp", [](S s) { return bare(s.role.shard.dp > 1); }},
    Row{"gpus_per_node", [](S s) { return word_if(s.role.nodes > 1, s.role.gpus_on_node); }},
    Row{"max_batch_size", [](S s) { return word(s.role.max_requests); }},
    Row{"max_num_tokens", [](S s) { return word(s.role.max_tokens); }},
    Row{"max_seq_len", [](S s) { return word(s.role.max_len); }},
    Row{"enable_chunked_prefill", [](S s) { return bare(s.role.chunk_tokens > 0); }},
    Row{"kv_cache_config.free_gpu_memory_fraction",
        [](S s) { return word(share(s.role.kv_fraction)); }},
    Row{"kv_cache_config.dtype|kv_cache_dtype",
        [](S s) { return word(s.role.fp8_kv ? "fp8" : "auto"); }},
    Row{"kv_cache_config.tokens_per_block",  // 1.0 has no such key, its blocks are the default's
        [](S s) {
          const bool said = s.role.kv_page > 0 && s.flags.has("kv_cache_config.tokens_per_block");
          return word_if(said, s.role.kv_page);
        }},
    Row{"kv_cache_config.enable_block_reuse",
        [](S s) { return text_if(!s.settings.prefix_cache, "false"); }},
    Row{"cuda_graph_config.enable_padding", [](S s) { return bare(!s.role.graph_sizes.empty()); }},
    Row{"cuda_graph_config.batch_sizes", [](S s) { return words(s.role.graph_sizes); }},
    Row{"disable_overlap_scheduler", [](S s) { return bare(s.role.role == Role::prefill); }},
    Row{"moe_config.backend", moe_backend},
    Row{"speculative_config.decoding_type", [](S s) { return text_if(drafts(s), "MTP"); }},
    Row{"speculative_config.num_nextn_predict_layers",
        [](S s) { return word_if(drafts(s), s.settings.nextn); }},
    Row{"cache_transceiver_config.backend", transceiver},
    Row{"cache_transceiver_config.max_tokens_in_buffer",
        [](S s) { return word_if(disagg(s), s.role.kv_buffer_tokens); }},
    Row{"trust_remote_code", [](S s) { return bare(s.settings.trust_remote_code); }},
};

// The disaggregated server takes "host:port", without a scheme, and as many as num_instances says.
base::Json pool(const std::vector<PoolMember>& members, Role role) {
  base::Json urls = base::Json::array();
  for (const PoolMember& member : members) {
    if (member.role != role) continue;
    urls.push_back(member.address.text + ":" + std::to_string(member.http_port));
  }
  const std::size_t count = urls.size();
  return {{"num_instances", count}, {"urls", std::move(urls)}};
}

}  // namespace

Result<Command> trtllm_worker(const Subject& subject) {
  const auto& shard = subject.role.shard;
  if (shard.dp > 1 && shard.tp > 1) {
    return Error::bad_input("dp: TensorRT-LLM's attention data parallelism spans all " +
                            std::to_string(shard.tp * shard.dp) + " ranks, found tp " +
                            std::to_string(shard.tp) + " with dp " + std::to_string(shard.dp));
  }
  Command command;
  command.mpi = mpi(subject);
  if (command.mpi) command.argv.push_back({"trtllm-llmapi-launch"});
  command.argv.insert(command.argv.end(), {{"trtllm-serve"}, {subject.settings.model}});
  SP_TRY(const auto said, arguments(kCommandLine, subject, command.notes));
  command.argv.insert(command.argv.end(), said.begin(), said.end());
  SP_TRY(const base::Json options, options_file(kOptions, subject, command.notes));
  command.config_yaml = yaml(options);
  return command;
}

Router trtllm_router(const Settings& settings, const FlagTable&,
                     const std::vector<PoolMember>& members, const Place& place) {
  if (settings.mode != Mode::disagg) return std::optional<Command>();
  Command command;
  command.argv = {{"trtllm-serve"}, {"disaggregated"}, {"-c"}, {place.config_path}};
  command.config_yaml = yaml({{"hostname", place.host.text},
                              {"port", place.http_port},
                              {"backend", "pytorch"},
                              {"context_servers", pool(members, Role::prefill)},
                              {"generation_servers", pool(members, Role::decode)}});
  command.config_expands =
      place.host.expands || std::any_of(members.begin(), members.end(),
                                        [](const PoolMember& one) { return one.address.expands; });
  return std::optional(command);
}

}  // namespace setpoint::generate
