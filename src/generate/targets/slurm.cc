// SPDX-License-Identifier: Apache-2.0
// Target `slurm`: one batch job over all machines. Each worker is one job step on its nodes; steps
// share their nodes with --overlap and are told their GPUs, so that what runs where is the plan's
// and not the scheduler's choice.
#include <fmt/format.h>

#include <algorithm>

#include "base/embedded.h"
#include "generate/shell.h"
#include "generate/targets/local.h"
#include "generate/targets/scripts.h"

namespace setpoint::generate {
namespace {

// Exported by the job, so that steps know them too.
std::string node_variable(std::int64_t node) { return fmt::format("NODE{}_ADDR", node); }
Word node_address(std::int64_t node) { return {"${" + node_variable(node) + "}", true}; }

// Names of shell functions have no dashes.
std::string function_name(const Process& head) {
  std::string name = "run_" + head.worker;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::int64_t gpus_on_node(const Processes& all) {
  std::map<std::int64_t, std::int64_t> used;
  for (const Process& process : all.workers) {
    used[process.node] += static_cast<std::int64_t>(process.devices.size());
  }
  std::int64_t most = 0;
  for (const auto& [node, gpus] : used) most = std::max(most, gpus);
  return most;
}

class Job {
 public:
  Job(const Plan& plan, const Processes& all)
      : plan_(plan), all_(all), gpus_per_node_(gpus_on_node(all)) {}

  std::string text() const {
    std::string out = "#!/usr/bin/env bash\n" + directives() + heading(plan_, all_, usage());
    out += "set -euo pipefail\ncd \"$SLURM_SUBMIT_DIR\"\n\n";
    out += *base::embedded_file("recipes/serve/launch.sh");
    out += "\n" + nodes() + "\n";
    for (const Process& process : all_.workers) {
      if (process.rank == 0) out += function(process);
    }
    if (all_.router) out += router_function();
    out += "\n";
    for (const Process& process : all_.workers) {
      if (process.rank == 0) out += step(process);
    }
    out += "\n";
    for (const Process& process : all_.workers) {
      if (process.rank == 0)
        out += health_line("await", process.worker, process.address, process.port);
    }
    const Word ready{fmt::format("ready: ${{NODE0_ADDR}}:{} serves ", all_.port), true};
    out += front() + "\nserves=" + quoted({plan_.settings.served_name}) + "\n";
    return out + ready_lines({ready.text + "$serves", true}, {});
  }

 private:
  std::string directives() const {
    return fmt::format(
        "#SBATCH --job-name=setpoint\n#SBATCH --nodes={}\n#SBATCH --gpus-per-node={}\n"
        "#SBATCH --ntasks-per-node=1\n#SBATCH --exclusive\n#SBATCH --mem=0\n"
        "#SBATCH --output=job-%j.log\n",
        plan_.placement.nodes, gpus_per_node_);
  }

  std::vector<std::string> usage() const {
    return {
        "Start: sbatch job.sbatch, in this folder, which every node must see; add --time, "
        "--partition and --account as the cluster wants them. Stop: scancel JOB.",
        fmt::format("Clients connect to port {} of the job's first node; job-JOB.log says its "
                    "name when all is ready.",
                    all_.port),
        "Logs lie in logs/; when one process ends, the job ends.",
        "STEP_OPTIONS holds further srun options, e.g. those of a container plugin."};
  }

  std::string nodes() const {
    std::string out = "mapfile -t nodes < <(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n";
    for (std::int64_t node = 0; node < plan_.placement.nodes; ++node) {
      out += fmt::format("export {}=${{nodes[{}]}}\n", node_variable(node), node);
    }
    out += "\n" + std::string(*base::embedded_file("recipes/serve/slurm.sh"));
    if (!plan_.options.image.empty()) {
      const Word image{"--container-image=" + plan_.options.image};
      out += "step_options+=(" + quoted(image) +
             " --container-mounts=\"$PWD:$PWD\" --container-workdir=\"$PWD\")\n";
    }
    return out;
  }

  // What each task of a step runs; its rank picks the head's command or the others'.
  std::string function(const Process& head) const {
    const Process* rest = nullptr;
    for (const Process& process : all_.workers) {
      if (process.worker == head.worker && process.rank == 1) rest = &process;
    }
    const std::string name = function_name(head);
    std::string out = name + "() {\n";
    if (rest != nullptr && !head.command.mpi && rest->command != head.command) {
      out += "  if [ \"$SLURM_PROCID\" != 0 ]; then\n" + exec(*rest, 4) + "  fi\n";
    }
    return out + exec(head, 2) + "}\n";
  }

  std::string router_function() const { return "run_router() {\n" + exec(*all_.router, 2) + "}\n"; }

  static std::string exec(const Process& process, int indent) {
    Command command = process.command;
    command.argv.insert(command.argv.begin(), {"exec"});
    if (!process.devices.empty()) {
      command.environment.insert(command.environment.begin(),
                                 {"CUDA_VISIBLE_DEVICES", {visible_devices(process)}});
    }
    return shell_command(command, indent) + "\n";
  }

  std::string step(const Process& head) const {
    std::string nodes;
    for (const Process& process : all_.workers) {
      if (process.worker != head.worker) continue;
      nodes += (nodes.empty() ? "" : ",") + node_address(process.node).text;
    }
    const auto tasks = head.command.mpi ? static_cast<std::int64_t>(head.devices.size()) : 1;
    std::vector<Word> words{{"step"},
                            {head.worker},
                            {function_name(head)},
                            {fmt::format("--nodes={}", head.ranks)},
                            {fmt::format("--ntasks={}", head.ranks * tasks)},
                            {fmt::format("--ntasks-per-node={}", tasks)},
                            {fmt::format("--gpus-per-node={}", gpus_per_node_)},
                            {"--nodelist=" + nodes, true}};
    if (head.command.mpi) words.push_back({"--mpi=pmix"});
    return shell_words(std::move(words)) + "\n";
  }

  std::string front() const {
    std::string out;
    if (all_.router) {
      if (all_.router->command.config_expands) {
        out += write_line(*all_.router->command.config_yaml, all_.router->config_path);
      }
      out += shell_words({{"step"},
                          {"router"},
                          {"run_router"},
                          {"--nodes=1"},
                          {"--ntasks=1"},
                          {"--ntasks-per-node=1"},
                          {"--nodelist=" + node_address(0).text, true}}) +
             "\n";
      out += health_line("await", "router", node_address(0), all_.port);
    }
    if (all_.balancer) {
      out += write_line(*all_.balancer, "logs/nginx.conf");
      out += balancer_lines(all_, "logs/nginx.conf");
    }
    return out;
  }

  const Plan& plan_;
  const Processes& all_;
  std::int64_t gpus_per_node_;
};

}  // namespace

Files slurm_job(const Plan& plan, const Processes& all) {
  Files out{{"job.sbatch", Job(plan, all).text(), true}};
  for (File& file : config_files(all)) out.push_back(std::move(file));
  return out;
}

Result<Files> slurm_files(const Plan& plan) {
  for (const RoleSettings& role : plan.settings.roles) {
    if (role.system == plan.settings.roles[0].system) continue;
    return Error{ErrorCode::no,
                 "slurm: prefill workers on " + plan.settings.roles[0].system +
                     " and decode workers on " + role.system +
                     " need a job over two kinds of nodes; targets that work: run, k8s, dynamo"};
  }
  const Naming naming{
      .address = [](const PlacedWorker&, const NodePart& part) { return node_address(part.node); },
      .rank = Word{"$((SLURM_PROCID))", true},
      .slurm = true,
      .config_folder = {},
      .router_config = "logs/router.yaml",
      .balancer_paths = balancer_paths()};
  SP_TRY(const Processes all, processes(plan, naming));
  return slurm_job(plan, all);
}

}  // namespace setpoint::generate
