// SPDX-License-Identifier: Apache-2.0
// What a GPU and the node around it are: memory, peaks, links. Facts come from
// perfdb/systems/<name>.json, each with its source; a user may give one on the command line.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "setpoint/result.h"
#include "setpoint/units.h"

namespace setpoint::hw {

struct Gpu {
  Bytes memory{};
  BytesPerS memory_bw{};
  double memory_efficiency = 0.8;  // reached share of memory_bw in copies and norms
  Ms launch{};                     // added once per memory-bound operator
  std::array<FlopPerS, 4> peak{};  // dense, by ops::Pipe order bf16 int8 fp8 fp4; 0 = not there
  int sm = 0;                      // CUDA compute capability x 10; 0 = not an NVIDIA GPU
  double power_w = 0;              // stated board power, watts; 0 = unknown
};

struct Node {
  int gpus = 8;
  int gpus_per_rack = 0;  // GPUs in one NVLink domain of several nodes; 0 = the node is the domain
  BytesPerS intra_node_bw{}, inter_node_bw{}, inter_rack_bw{};  // per GPU, one direction
  Ms p2p_latency{};
};

struct System {
  std::string name;
  std::string source;  // where the facts come from
  Gpu gpu;
  Node node;
  std::map<int, Bytes> collective_memory;  // buffers of the collective library, by ranks
  Bytes context_memory{};  // CUDA context, graphs and what else an engine holds besides its pools
  std::string collective_version;  // NCCL or oneCCL version of the measured tables
  bool measured = false;           // the public tables have rows of it

  // Bandwidth per GPU, one direction, of the slowest link a group of this many GPUs crosses.
  BytesPerS link_bw(std::int64_t gpus) const;
};

// A known system by name; an unknown name lists the nearest known ones.
Result<System> find_system(const std::string& name);
std::vector<std::string> system_names();
// "mem=48,bw=696,bf16=149.7,fp8=..." (GiB, GB/s, TFLOP/s): a system that is roofline only.
Result<System> parse_system_spec(const std::string& name, const std::string& spec);

}  // namespace setpoint::hw
