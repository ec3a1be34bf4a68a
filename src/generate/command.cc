// SPDX-License-Identifier: Apache-2.0
#include "generate/command.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "generate/mapping.h"

namespace setpoint::generate {
namespace {

// Ports that one SGLang worker with attention data parallelism opens from its rendezvous port on:
// that one, base, detokenizer, rpc, metrics, scheduler, load collector (PortArgs in server_args.py,
// 0.5.6.post2 to 0.5.23).
constexpr std::int64_t kSglangPorts = 7;

struct Engine {
  std::string_view framework;
  Result<Command> (*worker)(const Subject& subject);
  Router (*router)(const Settings& settings, const FlagTable& flags,
                   const std::vector<PoolMember>& members, const Place& place);  // null: none
  bool side_channel = false;          // disaggregated workers listen on one a data-parallel rank
  std::int64_t ports_with_dp = 0;     // from the rendezvous port on, data parallel on one node
  std::int64_t ports_over_nodes = 0;  // the same, over several nodes
};
constexpr std::array kEngines{
    Engine{"vllm", vllm_worker, nullptr, true, 0, 1},
    Engine{"sglang", sglang_worker, sglang_router, false, kSglangPorts, kSglangPorts},
    Engine{"trtllm", trtllm_worker, trtllm_router, false, 0, 0},
};

Result<Engine> engine_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Engine& engine : kEngines) {
    if (engine.framework == name) return engine;
    known.emplace_back(engine.framework);
  }
  return Error::bad_input(base::unknown_name("framework", name, known));
}

}  // namespace

PortSpans port_spans(const Settings& settings, const RoleSettings& role) {
  const auto engine = engine_named(settings.framework);
  if (!engine) return {};
  PortSpans spans;
  if (engine->side_channel && settings.mode == Mode::disagg) spans.side_channel = role.shard.dp;
  if (role.nodes > 1) {
    spans.head = engine->ports_over_nodes;
  } else if (role.shard.dp > 1) {
    spans.head = engine->ports_with_dp;
  }
  return spans;
}

Result<Command> worker_command(const Settings& settings, const RoleSettings& role,
                               const FlagTable& flags, const Place& place) {
  SP_TRY(const Engine engine, engine_named(settings.framework));
  SP_TRY(Command command, engine.worker({settings, role, flags, place}));
  if (!flags.note().empty()) command.notes.insert(command.notes.begin(), flags.note());
  return command;
}

Result<std::optional<Command>> router_command(const Settings& settings, const FlagTable& flags,
                                              const std::vector<PoolMember>& members,
                                              const Place& place) {
  SP_TRY(const Engine engine, engine_named(settings.framework));
  if (!engine.router) return std::optional<Command>();
  return engine.router(settings, flags, members, place);
}

}  // namespace setpoint::generate
