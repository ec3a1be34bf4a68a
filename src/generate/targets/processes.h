// SPDX-License-Identifier: Apache-2.0
// Every process of a deployment in starting order, with its ports and its command: what the targets
// that start plain processes (run, compose, slurm) have in common. They differ in how a machine is
// called and in the text around the commands.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/target.h"

namespace setpoint::generate {

// One process: a worker on one of its nodes, or what stands in front of the workers.
struct Process {
  std::string name;                        // "worker-0"; over several nodes "worker-0-rank-1"
  std::string worker = {};                 // "worker-0"
  std::int64_t node = 0, rank = 0;         // the machine; its place among the worker's nodes
  std::int64_t ranks = 1;                  // nodes of the worker
  std::vector<std::int64_t> devices = {};  // GPUs on `node`
  Word address;                            // how others reach the worker's first node, and where ..
  std::int64_t port = 0;                   // .. /health answers there
  std::string config_path = {};            // of command.config_yaml
  Command command = {};
};

struct Processes {
  std::vector<Process> workers;         // prefill before decode, a worker's ranks in their order
  std::optional<Process> router;        // the engine's own, on node 0
  std::optional<std::string> balancer;  // else for several workers: configuration of nginx
  std::int64_t port = 8000;             // where clients connect, on node 0
  std::vector<std::string> notes;       // each once
};

// How a target calls what it starts.
struct Naming {
  std::function<Word(const PlacedWorker&, const NodePart&)> address;
  std::optional<Word> rank = {};    // when the number is not known while writing
  bool slurm = false;               // srun starts it
  std::string config_folder = {};   // what engines find their options files below: "" or "folder/"
  std::string router_config = {};   // where the router finds its own
  std::string balancer_paths = {};  // lines of nginx.conf that name its files
};

// Code `no` for a disaggregated deployment of an engine that has no router of its own; the error
// names the targets that bring one.
Result<Processes> processes(const Plan& plan, const Naming& naming);

// The options files beside the plan's other files, each once; not those whose text holds variables.
Files config_files(const Processes& all);

// Comment lines for the head of a file: what it starts, what is predicted, warnings. Names in them
// cannot end a comment.
std::string heading(const Plan& plan, const Processes& all, std::vector<std::string> more);

}  // namespace setpoint::generate
