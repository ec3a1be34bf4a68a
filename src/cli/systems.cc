// SPDX-License-Identifier: Apache-2.0
// aiconf systems: the GPUs that are known, with the facts that decide.
#include <fmt/format.h>

#include "base/json.h"
#include "cli/command.h"
#include "hw/system.h"
#include "ops/quant.h"

namespace setpoint::cli {
namespace {

constexpr double kGiga = 1e9, kTera = 1e12;

base::Json system_json(const hw::System& system) {
  base::Json peaks = base::Json::object();
  for (std::size_t i = 0; i < system.gpu.peak.size(); ++i) {
    if (system.gpu.peak[i].value() > 0) {
      peaks[std::string(ops::kPipeNames[i])] = system.gpu.peak[i].value() / kTera;
    }
  }
  return {{"name", system.name},
          {"memory_gib", gib(system.gpu.memory)},
          {"memory_gb_per_s", system.gpu.memory_bw.value() / kGiga},
          {"peak_tflops", peaks},
          {"sm", system.gpu.sm},
          {"gpus_per_node", system.node.gpus},
          {"gpus_per_rack", system.node.gpus_per_rack},
          {"intra_node_gb_per_s", system.node.intra_node_bw.value() / kGiga},
          {"inter_node_gb_per_s", system.node.inter_node_bw.value() / kGiga},
          {"measured_tables", system.measured},
          {"source", system.source}};
}

std::string peak_text(FlopPerS peak) {
  return peak.value() > 0 ? fmt::format("{:.0f}", peak.value() / kTera) : "-";
}

std::string system_row(const hw::System& system) {
  return fmt::format("{:<24}{:>8.0f}{:>8.0f}{:>8}{:>8}{:>8}{:>8}{:>6}{:>8.0f}{:>8.0f}  {}\n",
                     system.name, gib(system.gpu.memory), system.gpu.memory_bw.value() / kGiga,
                     peak_text(system.gpu.peak[0]), peak_text(system.gpu.peak[1]),
                     peak_text(system.gpu.peak[2]), peak_text(system.gpu.peak[3]), system.node.gpus,
                     system.node.intra_node_bw.value() / kGiga,
                     system.node.inter_node_bw.value() / kGiga, system.measured ? "yes" : "no");
}

Result<int> list(const Console& console) {
  base::Json all = base::Json::array();
  std::string text = fmt::format(
      "{:<24}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>6}{:>8}{:>8}\n{:<24}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}"
      "{:>6}{:>8}{:>8}  {}\n",
      "", "memory", "memory", "bf16", "int8", "fp8", "fp4", "node", "in node", "across", "system",
      "GiB", "GB/s", "TFLOP/s", "TOP/s", "TFLOP/s", "TFLOP/s", "GPUs", "GB/s", "GB/s", "tables");
  for (const std::string& name : hw::system_names()) {
    SP_TRY(const hw::System system, hw::find_system(name));
    all.push_back(system_json(system));
    text += system_row(system);
  }
  SP_CHECK(console.print(console.json ? base::Json{{"systems", all}}.dump(2) + "\n" : text));
  return kDone;
}

}  // namespace

Action systems_command(Flags&) { return list; }

}  // namespace setpoint::cli
