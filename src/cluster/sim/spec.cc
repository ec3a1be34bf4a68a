// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/spec.h"

#include <algorithm>
#include <array>

#include "base/fields.h"

namespace setpoint::cluster {
namespace {

constexpr std::array kFields{
    base::Field<SimSpec>{"nodes", &SimSpec::nodes, 1, 100000, "", "nodes"},
    base::Field<SimSpec>{"run_noise", &SimSpec::run_noise, 0, 1, "", "deviation of a run"},
    base::Field<SimSpec>{"step_noise", &SimSpec::step_noise, 0, 1, "", "deviation of a step"},
    base::Field<SimSpec>{"node_noise", &SimSpec::node_noise, 0, 1, "", "slowest node"},
    base::Field<SimSpec>{"hang", &SimSpec::hang, 0, 1, "", "probability per run"},
    base::Field<SimSpec>{"node_failure", &SimSpec::node_failure, 0, 1, "", "probability per run"},
    base::Field<SimSpec>{"preemption", &SimSpec::preemption, 0, 1, "", "probability per run"},
    base::Field<SimSpec>{"queue_s", &SimSpec::queue_s, 0, 1e6, "s", "mean wait"},
    base::Field<SimSpec>{"stagger_s", &SimSpec::stagger_s, 0, 1e5, "s", "last node's delay"},
};

}  // namespace

Result<SimSpec> read_sim_spec(const base::JsonView& cluster, const std::string& recipe_gpu,
                              std::int64_t gpus) {
  std::vector<std::string> known{"kind", "gpu", "seed", "errors"};
  for (const auto& field : kFields) known.emplace_back(field.name);
  SP_CHECK(cluster.only(known));
  SimSpec spec;
  std::string name = recipe_gpu;
  if (const auto gpu = cluster.find("gpu")) {
    SP_TRY(name, gpu->string());
  }
  auto system = hw::find_system(name);
  if (!system.ok()) return system.error().at(cluster.path() + ".gpu");
  spec.machine.system = std::move(system).value();
  if (const auto seed = cluster.find("seed")) {
    SP_TRY(const std::int64_t value, seed->integer(0, std::int64_t{1} << 53));
    spec.seed = static_cast<std::uint64_t>(value);
  }
  constexpr std::int64_t kSets = 5;
  const std::int64_t per_node = spec.machine.system.node.gpus;
  spec.nodes =
      static_cast<int>(std::min<std::int64_t>(kSets * ((gpus - 1) / per_node + 1), 100000));
  SP_CHECK(base::read(kFields, cluster, spec));
  if (const auto errors = cluster.find("errors")) {
    SP_TRY(const auto items, errors->items());
    for (const base::JsonView& item : items) {
      SP_TRY(Fault fault, read_fault(item));
      spec.faults.push_back(std::move(fault));
    }
  }
  return spec;
}

}  // namespace setpoint::cluster
