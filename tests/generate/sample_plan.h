// SPDX-License-Identifier: Apache-2.0
// Small plans and processes made by hand for the targets' tests.
#pragma once

#include <string>
#include <vector>

#include "generate/targets/processes.h"

namespace setpoint::generate {

inline Plan sample_plan(std::int64_t nodes, std::int64_t workers, std::int64_t gpus) {
  Plan plan;
  plan.settings.framework = "vllm";
  plan.settings.engine_version = "0.24.0";
  plan.settings.model = "Qwen/Qwen3-32B";
  plan.settings.served_name = "it's \"prod\"";
  RoleSettings role;
  role.workers = workers;
  role.system = "h200_sxm";
  role.gpus = gpus;
  role.nodes = nodes;
  role.gpus_on_node = gpus / nodes;
  role.shard.tp = static_cast<int>(gpus);
  plan.settings.roles = {role};
  plan.placement.nodes = nodes;
  return plan;
}

inline Process sample_process(const std::string& name, std::vector<std::string> argv,
                              std::int64_t port, std::vector<std::int64_t> devices) {
  Process out{.name = name,
              .worker = name,
              .devices = std::move(devices),
              .address = {"127.0.0.1"},
              .port = port,
              .config_path = {},
              .command = {}};
  for (std::string& word : argv) out.command.argv.push_back({std::move(word)});
  out.command.argv.push_back({"--port"});
  out.command.argv.push_back({std::to_string(port)});
  return out;
}

}  // namespace setpoint::generate
