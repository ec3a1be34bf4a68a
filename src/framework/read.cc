// SPDX-License-Identifier: Apache-2.0
// perfdb/frameworks/<name>.json -> Facts. The file lists entries with `since`; an entry holds only
// what changed, so the facts of a version are all entries up to it merged in order.
#include <fmt/format.h>

#include <algorithm>

#include "base/embedded.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "framework/framework.h"

namespace setpoint::framework {
namespace {

using base::Json;
using base::JsonView;

constexpr std::string_view kFolder = "perfdb/frameworks/";
constexpr std::array<std::string_view, 3> kPoolNames{"share_of_total", "share_static",
                                                     "share_of_free"};
constexpr std::array<std::string_view, 4> kDispatchNames{"vllm", "sglang", "trtllm",
                                                         "trtllm_sm100"};
constexpr std::array<std::string_view, 2> kQueueNames{"steps", "batch"};
constexpr double kMost = 1e9;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 32;
constexpr std::int64_t kBytesPerMib = std::int64_t{1} << 20;

// Readers of one member each: `read(at, "key", target)`.
Result<void> read(const JsonView& at, std::string_view key, double& out) {
  SP_TRY(const auto value, at.at(key));
  SP_TRY(out, value.number(0, kMost));
  return {};
}
Result<void> read(const JsonView& at, std::string_view key, std::int64_t& out) {
  SP_TRY(const auto value, at.at(key));
  SP_TRY(out, value.integer(0, kMostTokens));
  return {};
}
Result<void> read(const JsonView& at, std::string_view key, int& out) {
  std::int64_t wide = 0;
  SP_CHECK(read(at, key, wide));
  out = static_cast<int>(wide);
  return {};
}
Result<void> read(const JsonView& at, std::string_view key, bool& out) {
  SP_TRY(const auto value, at.at(key));
  SP_TRY(out, value.boolean());
  return {};
}
Result<void> read(const JsonView& at, std::string_view key, ops::Quant& out) {
  SP_TRY(const auto value, at.at(key));
  SP_TRY(const std::string name, value.string());
  const auto quant = ops::parse_quant(name);
  if (!quant) return value.error("unknown number format \"" + name + "\"");
  out = *quant;
  return {};
}
// A size written in units of `unit` bytes.
Result<void> read_bytes(const JsonView& at, std::string_view key, std::int64_t unit, Bytes& out) {
  std::int64_t count = 0;
  SP_CHECK(read(at, key, count));
  out = Bytes(count * unit);
  return {};
}
template <class Enum, std::size_t N>
Result<void> read_name(const JsonView& at, const std::array<std::string_view, N>& names,
                       Enum& out) {
  SP_TRY(const std::string text, at.string());
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return at.error(fmt::format("unknown name \"{}\"", text));
  out = static_cast<Enum>(found - names.begin());
  return {};
}
template <std::size_t N>
Result<void> read(const JsonView& at, std::string_view key, std::array<double, N>& out) {
  SP_TRY(const auto list, at.at(key));
  SP_TRY(const auto items, list.items());
  if (items.size() != N) return list.error(fmt::format("expected {} numbers", N));
  for (std::size_t i = 0; i < N; ++i) {
    SP_TRY(out[i], items[i].number(0, kMost));
  }
  return {};
}

Result<void> read_reserve(const JsonView& at, StaticReserve& out) {
  SP_CHECK(read(at, "base", out.base));
  SP_CHECK(read(at, "per_chunk_token", out.per_chunk_token));
  SP_CHECK(read(at, "per_gpu", out.per_gpu));
  SP_CHECK(read(at, "per_graph_request", out.per_graph_request));
  SP_CHECK(read(at, "per_graph_request_dp", out.per_graph_request_dp));
  SP_CHECK(read(at, "per_large_graph_request_dp", out.per_large_graph_request_dp));
  SP_CHECK(read(at, "large_graph", out.large_graph));
  SP_CHECK(read(at, "least", out.least));
  return read_bytes(at, "least_above_gib", kBytesPerMib << 10, out.least_above);
}

Result<void> read_memory(const JsonView& at, Memory& out) {
  SP_TRY(const auto pool, at.at("pool"));
  SP_CHECK(read_name(pool, kPoolNames, out.pool));
  SP_CHECK(read(at, "fraction", out.fraction));
  if (const auto reserve = at.find("reserve_mib")) SP_CHECK(read_reserve(*reserve, out.reserve));
  SP_CHECK(read(at, "pool_efficiency", out.pool_efficiency));
  SP_CHECK(read(at, "context_factor", out.context_factor));
  SP_CHECK(read(at, "activation_factor", out.activation_factor));
  SP_CHECK(read(at, "dense_activation", out.dense_activation));
  SP_CHECK(read(at, "moe_activation", out.moe_activation));
  SP_CHECK(read(at, "workspace_bytes", out.workspace_bytes));
  SP_CHECK(read(at, "workspace_experts", out.workspace_experts));
  SP_CHECK(read_bytes(at, "activation_floor_mib", kBytesPerMib, out.activation_floor));
  SP_CHECK(read(at, "activation_tokens", out.activation_tokens));
  return read(at, "kv_block_tokens", out.kv_block_tokens);
}

Result<void> read_scheduler(const JsonView& at, Scheduler& out) {
  SP_TRY(const auto queue, at.at("queue"));
  SP_CHECK(read_name(queue, kQueueNames, out.queue));
  SP_CHECK(read(at, "chunked_prefill", out.chunked_prefill));
  SP_CHECK(read(at, "prefill_stalls_decode", out.prefill_stalls_decode));
  SP_TRY(const auto list, at.at("tiers"));
  SP_TRY(const auto tiers, list.items());
  for (const JsonView& tier : tiers) {
    Tier& next = out.tiers.emplace_back();
    SP_CHECK(read_bytes(tier, "memory_gib", kBytesPerMib << 10, next.memory));
    SP_CHECK(read(tier, "sm", next.sm));
    SP_CHECK(read(tier, "width", next.width));
    SP_CHECK(read(tier, "token_budget", next.limits.token_budget));
    SP_CHECK(read(tier, "max_requests", next.limits.max_requests));
    SP_CHECK(read(tier, "graph_requests", next.limits.graph_requests));
  }
  return {};
}

Result<void> read_launch(const JsonView& at, Launch& out) {
  SP_CHECK(read(at, "prompt_slack", out.prompt_slack));
  SP_CHECK(read(at, "chunk_step", out.chunk_step));
  SP_CHECK(read(at, "whole_blocks", out.whole_blocks));
  SP_CHECK(read(at, "transfer_buffer", out.transfer_buffer));
  SP_CHECK(read(at, "online_fp8", out.online_fp8));
  SP_CHECK(read(at, "pool_router", out.pool_router));
  SP_CHECK(read(at, "least_share", out.least_share));
  return read(at, "most_share", out.most_share);
}

Result<Facts> read_facts(const JsonView& at) {
  Facts facts;
  SP_TRY(const auto memory, at.at("memory"));
  SP_CHECK(read_memory(memory, facts.memory));
  SP_TRY(const auto scheduler, at.at("scheduler"));
  SP_CHECK(read_scheduler(scheduler, facts.scheduler));
  SP_TRY(const auto launch, at.at("launch"));
  SP_CHECK(read_launch(launch, facts.launch));
  SP_TRY(const auto dispatch, at.at("dispatch"));
  SP_TRY(const auto rules, dispatch.items());
  if (rules.size() != facts.dispatch.size()) return dispatch.error("expected two rules");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    SP_CHECK(read_name(rules[i], kDispatchNames, facts.dispatch[i]));
  }
  SP_CHECK(read(at, "moe_tp_and_ep", facts.moe_tp_and_ep));
  SP_CHECK(read(at, "attention_tp_and_dp", facts.attention_tp_and_dp));
  SP_CHECK(read(at, "attention_dp", facts.attention_dp));
  SP_CHECK(read(at, "context_parallel", facts.context_parallel));
  SP_CHECK(read(at, "expert_block_least", facts.expert_block_least));
  SP_CHECK(read(at, "mla_module_tables", facts.mla_module_tables));
  SP_CHECK(read(at, "kv_auto", facts.kv_auto));
  SP_CHECK(read(at, "fp8_kv_fmha", facts.fp8_kv_fmha));
  SP_CHECK(read(at, "mxfp4_sm100", facts.mxfp4_sm100));
  return facts;
}

Result<Json> load(const std::string& framework) {
  const auto file = base::embedded_file(fmt::format("{}{}.json", kFolder, framework));
  if (!file) return Error::bad_input(base::unknown_name("framework", framework, framework_names()));
  return base::parse_json(*file, framework + ".json");
}

// The highest listed version not above `version`; the lowest when all are above.
Result<std::string> nearest_lower(const JsonView& versions, const base::Version& version) {
  SP_TRY(const auto items, versions.items());
  std::string best;
  for (const JsonView& item : items) {
    SP_TRY(const std::string text, item.string());
    const auto parsed = base::parse_version(text);
    if (!parsed) return item.error("not a version");
    if (best.empty() || *parsed <= version) best = text;
  }
  if (best.empty()) return versions.error("lists no version");
  return best;
}

// All entries up to `version` merged, the first one always.
Result<Json> merged_entries(const JsonView& list, const base::Version& version) {
  SP_TRY(const auto entries, list.items());
  Json merged = Json::object();
  for (const JsonView& entry : entries) {
    SP_TRY(const auto since, entry.at("since"));
    SP_TRY(const std::string text, since.string());
    const auto from = base::parse_version(text);
    if (!from) return since.error("not a version");
    if (merged.empty() || *from <= version) merged.merge_patch(entry.json());
  }
  return merged;
}

}  // namespace

const std::vector<std::string>& framework_names() {
  static const std::vector<std::string> names{"vllm", "sglang", "trtllm"};
  return names;
}

Result<Facts> find_facts(const std::string& framework, const std::string& version) {
  SP_TRY(const Json json, load(framework));
  const JsonView file(json, framework + ".json");
  SP_TRY(const auto current, file.at("current_version"));
  SP_TRY(const std::string current_text, current.string());
  const std::string asked = version.empty() ? current_text : version;
  const auto parsed = base::parse_version(asked);
  if (!parsed) {
    return Error::bad_input(
        fmt::format("version \"{}\" of {} is not of the form {}", asked, framework, current_text));
  }
  SP_TRY(const auto versions, file.at("versions"));
  SP_TRY(const std::string known, nearest_lower(versions, *parsed));
  SP_TRY(const auto entries, file.at("facts"));
  SP_TRY(const Json merged, merged_entries(entries, *parsed));
  SP_TRY(Facts facts, read_facts(JsonView(merged, framework + ".json: facts")));
  facts.name = framework;
  facts.version = asked;
  facts.facts_version = known;
  if (base::parse_version(known) != parsed) {
    facts.version_note = fmt::format("{} {}: engine facts of {} are used", framework, asked, known);
  }
  return facts;
}

Result<std::string> current_version(const std::string& framework, const std::string& system) {
  SP_TRY(const Json json, load(framework));
  const JsonView file(json, framework + ".json");
  SP_TRY(const auto overrides, file.at("current_version_by_system"));
  if (const auto own = overrides.find(system)) return own->string();
  SP_TRY(const auto current, file.at("current_version"));
  return current.string();
}

}  // namespace setpoint::framework
