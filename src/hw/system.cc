// SPDX-License-Identifier: Apache-2.0
#include "hw/system.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/embedded.h"
#include "base/json.h"
#include "base/text.h"

namespace setpoint::hw {
namespace {

using base::JsonView;

constexpr std::string_view kFolder = "perfdb/systems/";
constexpr std::array<std::string_view, 4> kPeakKeys{"bf16", "int8", "fp8", "fp4"};
constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
// Limits that no device comes near; they only keep nonsense out of the arithmetic.
constexpr double kMostBytesPerS = 1e15;
constexpr double kMostTflops = 1e7;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

Result<Gpu> read_gpu(const JsonView& at) {
  Gpu gpu;
  SP_TRY(const auto memory, at.at("memory_bytes"));
  SP_TRY(const auto memory_bytes, memory.integer(1, kMostBytes));
  gpu.memory = Bytes(memory_bytes);
  SP_TRY(const auto bw, at.at("memory_bytes_per_s"));
  SP_TRY(const double bw_value, bw.number(1, kMostBytesPerS));
  gpu.memory_bw = BytesPerS(bw_value);
  SP_TRY(const auto efficiency, at.at("memory_efficiency"));
  SP_TRY(gpu.memory_efficiency, efficiency.number(0.01, 1));
  SP_TRY(const auto launch, at.at("launch_ms"));
  SP_TRY(const double launch_ms, launch.number(0, 1000));
  gpu.launch = Ms(launch_ms);
  SP_TRY(const auto peaks, at.at("peak_tflops"));
  for (std::size_t i = 0; i < kPeakKeys.size(); ++i) {
    if (const auto peak = peaks.find(kPeakKeys[i])) {
      SP_TRY(const double tflops, peak->number(0, kMostTflops));
      gpu.peak[i] = FlopPerS(tflops * kTera);
    }
  }
  SP_TRY(const auto sm, at.at("sm"));
  SP_TRY(const auto sm_value, sm.integer(0, 1000));
  gpu.sm = static_cast<int>(sm_value);
  if (const auto power = at.find("power_w")) {
    SP_TRY(gpu.power_w, power->number(1, 1e5));
  }
  return gpu;
}

Result<Node> read_node(const JsonView& at) {
  Node node;
  SP_TRY(const auto gpus, at.at("gpus"));
  SP_TRY(const auto gpu_count, gpus.integer(1, 1024));
  node.gpus = static_cast<int>(gpu_count);
  SP_TRY(const auto intra, at.at("intra_node_bytes_per_s"));
  SP_TRY(const double intra_bw, intra.number(1, kMostBytesPerS));
  SP_TRY(const auto inter, at.at("inter_node_bytes_per_s"));
  SP_TRY(const double inter_bw, inter.number(1, kMostBytesPerS));
  node.intra_node_bw = BytesPerS(intra_bw);
  node.inter_node_bw = node.inter_rack_bw = BytesPerS(inter_bw);
  SP_TRY(const auto latency, at.at("p2p_latency_ms"));
  SP_TRY(const double latency_ms, latency.number(0, 1000));
  node.p2p_latency = Ms(latency_ms);
  if (const auto rack = at.find("gpus_per_rack")) {
    SP_TRY(const auto rack_gpus, rack->integer(1, 4096));
    node.gpus_per_rack = static_cast<int>(rack_gpus);
    SP_TRY(const auto across, at.at("inter_rack_bytes_per_s"));
    SP_TRY(const double across_bw, across.number(1, kMostBytesPerS));
    node.inter_rack_bw = BytesPerS(across_bw);
  }
  return node;
}

Result<System> read_system(const JsonView& at) {
  System system;
  SP_TRY(const auto name, at.at("name"));
  SP_TRY(system.name, name.string());
  SP_TRY(const auto source, at.at("source"));
  SP_TRY(system.source, source.string());
  SP_TRY(const auto measured, at.at("measured_tables"));
  SP_TRY(system.measured, measured.boolean());
  SP_TRY(const auto gpu, at.at("gpu"));
  SP_TRY(system.gpu, read_gpu(gpu));
  SP_TRY(const auto node, at.at("node"));
  SP_TRY(system.node, read_node(node));
  SP_TRY(const auto collective, at.at("collective"));
  SP_TRY(const auto version, collective.at("version"));
  SP_TRY(system.collective_version, version.string());
  SP_TRY(const auto memory, collective.at("memory_bytes"));
  for (const std::string& ranks : memory.keys()) {
    SP_TRY(const auto entry, memory.at(ranks));
    SP_TRY(const auto bytes, entry.integer(0, kMostBytes));
    system.collective_memory[std::stoi(ranks)] = Bytes(bytes);
  }
  SP_TRY(const auto context, at.at("context_memory_bytes"));
  SP_TRY(const auto context_bytes, context.integer(0, kMostBytes));
  system.context_memory = Bytes(context_bytes);
  return system;
}

// The keys of a user's own description, `mem=48,bw=696,...`: unit and where the number goes.
struct SpecKey {
  std::string_view key;
  bool required;
  void (*set)(System&, double);
};
constexpr std::array kSpecKeys{
    SpecKey{"mem", true,
            [](System& s, double v) {
              s.gpu.memory = Bytes(static_cast<std::int64_t>(v * kBytesPerGib));
            }},
    SpecKey{"bw", true, [](System& s, double v) { s.gpu.memory_bw = BytesPerS(v * kGiga); }},
    SpecKey{"bf16", true, [](System& s, double v) { s.gpu.peak[0] = FlopPerS(v * kTera); }},
    SpecKey{"int8", false, [](System& s, double v) { s.gpu.peak[1] = FlopPerS(v * kTera); }},
    SpecKey{"fp8", false, [](System& s, double v) { s.gpu.peak[2] = FlopPerS(v * kTera); }},
    SpecKey{"fp4", false, [](System& s, double v) { s.gpu.peak[3] = FlopPerS(v * kTera); }},
    SpecKey{"intra", false,
            [](System& s, double v) { s.node.intra_node_bw = BytesPerS(v * kGiga); }},
    SpecKey{"inter", false,
            [](System& s, double v) {
              s.node.inter_node_bw = s.node.inter_rack_bw = BytesPerS(v * kGiga);
            }},
    SpecKey{"gpus", false, [](System& s, double v) { s.node.gpus = static_cast<int>(v); }},
    SpecKey{"sm", false, [](System& s, double v) { s.gpu.sm = static_cast<int>(v); }},
};

std::vector<std::string> spec_key_names() {
  std::vector<std::string> names;
  for (const SpecKey& key : kSpecKeys) names.emplace_back(key.key);
  return names;
}

// What a description does not say is taken from the slowest common case: PCIe 4 x16 inside the
// node, 200 Gbit/s between nodes, and the context size measured for the other systems.
System unknown_system(const std::string& name) {
  System system;
  system.name = name;
  system.source = "given on the command line";
  system.gpu.launch = Ms(0.003);
  system.node.intra_node_bw = BytesPerS(32e9);
  system.node.inter_node_bw = system.node.inter_rack_bw = BytesPerS(25e9);
  system.node.p2p_latency = Ms(0.01);
  system.context_memory = Bytes(std::int64_t{3584} << 20);
  return system;
}

}  // namespace

BytesPerS System::link_bw(std::int64_t gpus) const {
  if (gpus <= node.gpus) return node.intra_node_bw;
  if (node.gpus_per_rack == 0 || gpus <= node.gpus_per_rack) return node.inter_node_bw;
  return node.inter_rack_bw;
}

std::vector<std::string> system_names() {
  std::vector<std::string> names;
  for (std::string_view path : base::embedded_files(kFolder)) {
    path.remove_prefix(kFolder.size());
    path.remove_suffix(std::string_view(".json").size());
    names.emplace_back(path);
  }
  return names;
}

Result<System> find_system(const std::string& name) {
  const auto file = base::embedded_file(fmt::format("{}{}.json", kFolder, name));
  if (!file) {
    return Error::bad_input(base::unknown_name("system", name, system_names()) +
                            "; a GPU of your own: --spec mem=GiB,bw=GB/s,bf16=TFLOP/s[,fp8=,...]");
  }
  SP_TRY(const auto json, base::parse_json(*file, name + ".json"));
  return read_system(JsonView(json, name + ".json"));
}

Result<System> parse_system_spec(const std::string& name, const std::string& spec) {
  System system = unknown_system(name);
  std::vector<std::string> seen;
  for (std::size_t begin = 0; begin <= spec.size();) {
    const std::size_t end = std::min(spec.find(',', begin), spec.size());
    const std::string part = spec.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const auto known = std::find_if(kSpecKeys.begin(), kSpecKeys.end(),
                                    [&](const SpecKey& k) { return k.key == key; });
    if (known == kSpecKeys.end()) {
      return Error::bad_input("--spec: " + base::unknown_name("key", key, spec_key_names()));
    }
    const auto json =
        base::parse_json(equals == std::string::npos ? "" : part.substr(equals + 1), key);
    if (!json) return Error::bad_input(fmt::format("--spec: {}: expected {}=NUMBER", part, key));
    SP_TRY(const double value, JsonView(*json, "--spec: " + key).number(1e-3, 1e6));
    known->set(system, value);
    seen.push_back(key);
  }
  for (const SpecKey& key : kSpecKeys) {
    if (key.required && std::find(seen.begin(), seen.end(), key.key) == seen.end()) {
      return Error::bad_input(fmt::format(
          "--spec: \"{}\" is missing; needed: mem (GiB), bw (GB/s), bf16 (TFLOP/s)", key.key));
    }
  }
  return system;
}

}  // namespace setpoint::hw
