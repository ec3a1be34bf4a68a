// SPDX-License-Identifier: Apache-2.0
// Target `run`: one script a machine that starts the engine's own servers and nothing else.
#include <fmt/format.h>

#include "base/embedded.h"
#include "base/text.h"
#include "generate/shell.h"
#include "generate/targets/local.h"
#include "generate/targets/scripts.h"

namespace setpoint::generate {
namespace {

std::string address_name(std::int64_t node) { return fmt::format("NODE{}_ADDR", node); }

Word address_of(std::int64_t node, bool several) {
  if (!several) return {"127.0.0.1"};
  return {"${" + address_name(node) + "}", true};
}

// Ranks of one MPI job over several nodes are started by mpirun from the first of them.
Command mpirun(const Processes& all, const Process& head) {
  std::string hosts;
  for (const Process& rank : all.workers) {
    if (rank.worker != head.worker) continue;
    hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", address_of(rank.node, true).text,
                         rank.devices.size());
  }
  Command out = head.command;
  std::vector<Word> words{{"mpirun"},   {"--allow-run-as-root"},
                          {"--host"},   {hosts, true},
                          {"--map-by"}, {fmt::format("ppr:{}:node", head.devices.size())},
                          {"-x"},       {"CUDA_VISIBLE_DEVICES"}};
  for (const Variable& variable : out.environment) {
    words.insert(words.end(), {{"-x"}, {variable.name}});
  }
  words.push_back({"--"});
  out.argv.insert(out.argv.begin(), words.begin(), words.end());
  return out;
}

// Whether this node's script has nothing to do for it: mpirun on the first node starts it.
bool started_elsewhere(const Process& process) { return process.command.mpi && process.rank > 0; }

std::string start(const Processes& all, const Process& process) {
  Command command =
      process.command.mpi && process.ranks > 1 ? mpirun(all, process) : process.command;
  command.environment.insert(command.environment.begin(),
                             {"CUDA_VISIBLE_DEVICES", {visible_devices(process)}});
  return start_line(process.name, command);
}

class NodeScript {
 public:
  NodeScript(const Plan& plan, const Processes& all, std::int64_t node)
      : plan_(plan), all_(all), node_(node), several_(plan.placement.nodes > 1) {
    for (const Process& process : all.workers) {
      if (process.node == node && !started_elsewhere(process)) mine_.push_back(&process);
    }
  }

  bool empty() const { return mine_.empty() && !(node_ == 0 && front()); }

  File file() const {
    std::string text = script_head(heading(plan_, all_, usage()));
    text += "cd \"$(dirname \"${BASH_SOURCE[0]}\")\"\n\n";
    text += *base::embedded_file("recipes/serve/launch.sh");
    text += "\n" + std::string(*base::embedded_file("recipes/serve/run.sh")) + "\n";
    if (several_) text += std::string(*base::embedded_file("recipes/serve/nodes.sh")) + need();
    text += in_use() + "\n";
    for (const Process* process : mine_) text += start(all_, *process);
    text += "\n" + awaits();
    if (node_ == 0) text += front_lines();
    text += "\n" + ready_lines(ready(), watches());
    return {fmt::format("run_node{}.sh", node_), text, true};
  }

 private:
  bool front() const { return all_.router || all_.balancer; }

  std::vector<std::string> usage() const {
    std::vector<std::string> out;
    out.push_back(fmt::format("This is node {} of {}.", node_ + 1, plan_.placement.nodes));
    if (several_) {
      out.push_back(
          "Copy the folder to every node, set the same NODE<i>_ADDR everywhere and start "
          "each node's script.");
    }
    for (const Process& process : all_.workers) {
      if (!started_elsewhere(process)) continue;
      out.push_back("mpirun starts " + process.name +
                    " from the first node of its worker, over ssh.");
    }
    out.push_back(fmt::format("Clients connect to port {} of node 1.", all_.port));
    if (all_.balancer) {
      out.push_back(
          "nginx, if it is installed, spreads requests over the workers, each of which "
          "has a port of its own.");
    }
    out.push_back(
        "Ctrl-C or TERM ends every process; when one ends by itself, all are ended. Logs "
        "lie in logs/.");
    return out;
  }

  std::string in_use() const {
    std::vector<std::int64_t> ports;
    if (node_ == 0 && front()) ports.push_back(all_.port);
    for (const Process* process : mine_) ports.push_back(process->port);
    return fmt::format("in_use {}\n", fmt::join(ports, " "));
  }

  std::string need() const {
    std::string out = "need";
    for (std::int64_t node = 0; node < plan_.placement.nodes; ++node) {
      out += " " + address_name(node);
    }
    return out + "\n";
  }

  // Node 0 waits for every worker when something stands in front of them, the others for those
  // that they have a part in.
  bool waits_for(const Process& process) const {
    if (process.node == node_) return !started_elsewhere(process);
    return node_ == 0 && front() && process.rank == 0;
  }
  bool heads(const Process& process) const { return process.node == node_ && process.rank == 0; }

  std::string awaits() const {
    std::string out;
    for (const Process& process : all_.workers) {
      if (!waits_for(process)) continue;
      const Word address = heads(process) ? Word{"127.0.0.1"} : process.address;
      out += health_line("await", process.name, address, process.port);
    }
    return out;
  }

  // Those that other nodes can end without a process ending here.
  std::string watches() const {
    std::string out;
    for (const Process& process : all_.workers) {
      if (!waits_for(process) || heads(process)) continue;
      out += health_line("  watch", process.name, process.address, process.port);
    }
    return out;
  }

  Word ready() const {
    if (node_ > 0) return {fmt::format("ready: the part of node {} runs", node_ + 1)};
    return {fmt::format("ready: port {} serves {}; Ctrl-C or TERM ends all processes", all_.port,
                        plan_.settings.served_name)};
  }

  std::string front_lines() const {
    const std::string folder = several_ ? "logs/" : "";
    std::string out;
    if (all_.router) {
      const Process& router = *all_.router;
      if (router.command.config_expands) {
        out += write_line(*router.command.config_yaml, router.config_path);
      }
      out += start_line(router.name, router.command);
      out += health_line("await", router.name, router.address, router.port);
    }
    if (all_.balancer) {
      if (several_) out += write_line(*all_.balancer, folder + "nginx.conf");
      out += balancer_lines(all_, folder + "nginx.conf");
    }
    return out;
  }

  const Plan& plan_;
  const Processes& all_;
  std::int64_t node_;
  bool several_;
  std::vector<const Process*> mine_;
};

}  // namespace

Files run_scripts(const Plan& plan, const Processes& all) {
  const bool several = plan.placement.nodes > 1;
  Files out;
  for (std::int64_t node = 0; node < plan.placement.nodes; ++node) {
    const NodeScript script(plan, all, node);
    if (!script.empty()) out.push_back(script.file());
  }
  for (File& file : config_files(all)) out.push_back(std::move(file));
  if (!several && all.balancer) out.push_back({"nginx.conf", *all.balancer, false});
  return out;
}

Result<Files> run_files(const Plan& plan) {
  const bool several = plan.placement.nodes > 1;
  const Naming naming{
      .address = [several](const PlacedWorker&,
                           const NodePart& part) { return address_of(part.node, several); },
      .rank = {},
      .router_config = several ? "logs/router.yaml" : "router.yaml",
      .balancer_paths = balancer_paths()};
  SP_TRY(const Processes all, processes(plan, naming));
  return run_scripts(plan, all);
}

}  // namespace setpoint::generate
