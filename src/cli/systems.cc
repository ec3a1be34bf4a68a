// SPDX-License-Identifier: Apache-2.0
// aiconf systems: the GPUs that are known, with the facts that decide.
#include "cli/command.h"
#include "cli/list.h"
#include "hw/system.h"
#include "ops/quant.h"

namespace setpoint::cli {
namespace {

constexpr double kGiga = 1e9, kTera = 1e12;

constexpr std::array kColumns{ListColumn{"name", "system"},
                              ListColumn{"memory_gib", "memory", "GiB"},
                              ListColumn{"memory_gb_per_s", "memory", "GB/s"},
                              ListColumn{"peak_tflops/bf16", "bf16", "TFLOP/s"},
                              ListColumn{"peak_tflops/int8", "int8", "TOP/s", 3},
                              ListColumn{"peak_tflops/fp8", "fp8", "TFLOP/s"},
                              ListColumn{"peak_tflops/fp4", "fp4", "TFLOP/s"},
                              ListColumn{"gpus_per_node", "node", "GPUs", 1},
                              ListColumn{"intra_node_gb_per_s", "in node", "GB/s", 2},
                              ListColumn{"inter_node_gb_per_s", "across", "GB/s", 3},
                              ListColumn{"measured_tables", "tables"}};

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

Result<int> list(const Console& console) {
  base::Json all = base::Json::array();
  for (const std::string& name : hw::system_names()) {
    SP_TRY(const hw::System system, hw::find_system(name));
    all.push_back(system_json(system));
  }
  SP_CHECK(console.print(console.json ? base::json_text(base::Json{{"systems", all}}, 2) + "\n"
                                      : list_text(console.screen, all, kColumns)));
  return kDone;
}

}  // namespace

Action systems_command(Flags&) { return list; }

}  // namespace setpoint::cli
