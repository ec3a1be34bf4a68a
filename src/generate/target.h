// SPDX-License-Identifier: Apache-2.0
// A launch target turns settings into files. Each is one file in src/generate/targets/ and one row
// of the table in targets.cc.
#pragma once

#include <span>
#include <vector>

#include "generate/command.h"
#include "generate/placement.h"
#include "generate/settings.h"
#include "setpoint/generate.h"

namespace setpoint::generate {

// What every target is given.
struct Plan {
  const Deployment* deployment = nullptr;
  Options options;
  Settings settings;
  FlagTable flags;
  Placement placement;
};

using Files = std::vector<File>;
Result<Files> run_files(const Plan& plan);
Result<Files> compose_files(const Plan& plan);
Result<Files> slurm_files(const Plan& plan);
Result<Files> k8s_files(const Plan& plan);
Result<Files> dynamo_files(const Plan& plan);
Result<Files> llm_d_files(const Plan& plan);

struct TargetRow {
  Target target;
  Result<Files> (*files)(const Plan& plan);
  bool brings_router = false;  // prefill and decode pools need none of the engine's own
  bool one_node = false;       // every worker must fit one machine
};
std::span<const TargetRow> targets();

// With every target.
File bench_file(const Plan& plan);
File plan_file(const Plan& plan, const Files& others);

// Re-reads what was rendered: GPU counts agree with the plan everywhere, graph sizes are sorted and
// end in the batch, tokens cover drafts, ports are distinct, both roles have a connector, the KV
// pool covers the context length, the request limit equals the batch, no null or None text.
Result<void> check(const Plan& plan, const Files& files);

}  // namespace setpoint::generate
