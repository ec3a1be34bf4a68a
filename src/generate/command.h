// SPDX-License-Identifier: Apache-2.0
// How one worker is started, in its engine's own words. Where it runs (node, addresses, ports) is
// handed in by the target, because a shell, Slurm and Kubernetes each name these differently.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generate/flag_table.h"
#include "generate/settings.h"
#include "setpoint/generate.h"

namespace setpoint::generate {

// One argument. An expanding word holds variables of its target ("$HEAD", "$(LWS_LEADER_ADDRESS)")
// that must not be quoted away; every other word is taken literally.
struct Word {
  std::string text;
  bool expands = false;
  bool operator==(const Word&) const = default;
};

struct Variable {
  std::string name;
  Word value;
  bool operator==(const Variable&) const = default;
};

// Where a worker listens and with whom it talks. Ports are numbers, given out by a PortBook.
struct Place {
  std::int64_t http_port = 8000;
  std::int64_t bootstrap_port = 0;     // SGLang disaggregation
  std::int64_t side_channel_port = 0;  // NIXL
  std::int64_t head_port = 0;          // rendezvous (vLLM master, SGLang dist-init), see port_spans
  std::int64_t rpc_port = 0;           // vLLM data parallel over several nodes
  Word host{"0.0.0.0"};                // address to listen on
  Word own_address{"127.0.0.1"};       // how peers reach this worker
  Word head_address{"127.0.0.1"};      // first node of the worker
  Word node_rank{"0"};                 // of this process, 0 .. nodes-1
  bool first_node = true;              // whether node_rank is 0, where it is known when writing
  std::string config_path;             // where the target will put Command::config
  bool slurm = false;                  // started by srun, which makes MPI ranks
};

// How many ports follow each other from the one that Place names; 0 = it is not opened.
struct PortSpans {
  std::int64_t side_channel = 0;  // vLLM disaggregation: one a data-parallel rank
  std::int64_t head = 0;          // several nodes; SGLang with attention data parallelism
};
PortSpans port_spans(const Settings& settings, const RoleSettings& role);

struct Command {
  std::vector<Variable> environment;
  std::vector<Word> argv;                  // program first
  std::optional<std::string> config_yaml;  // engine options file (TensorRT-LLM), argv names it
  bool config_expands = false;             // its text holds variables of the target
  std::vector<std::string> notes;          // warnings for the head of the file
  // A worker over several nodes, and every worker under Slurm, is one MPI job of one process a GPU
  // that the target starts (TensorRT-LLM); else one process a node.
  bool mpi = false;
  bool operator==(const Command&) const = default;
};

// The process that serves `role` on one node of one worker. Each flag is looked up in the table.
Result<Command> worker_command(const Settings& settings, const RoleSettings& role,
                               const FlagTable& flags, const Place& place);

// The program in front of a disaggregated deployment, where the engine has one.
struct PoolMember {
  Role role = Role::prefill;
  Word address;  // host or service name
  std::int64_t http_port = 0, bootstrap_port = 0;
};
// nullopt: the engine has no router of its own (vLLM).
Result<std::optional<Command>> router_command(const Settings& settings, const FlagTable& flags,
                                              const std::vector<PoolMember>& members,
                                              const Place& place);
// In front of several aggregated workers: SGLang's router; else nothing (a plain load balancer or
// service is the target's business).

}  // namespace setpoint::generate
