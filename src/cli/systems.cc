// SPDX-License-Identifier: Apache-2.0
// aiconf systems: the GPUs that are known, with the facts that decide.
#include <fmt/format.h>

#include "base/json.h"
#include "cli/command.h"
#include "hw/system.h"
#include "ops/quant.h"
#include "report/table.h"

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

std::string whole(double value) { return value > 0 ? fmt::format("{:.0f}", value) : "-"; }

struct Fact {
  const char *head, *unit;
  std::string (*of)(const hw::System&);
  int dispensable = 0;  // on a narrow screen; higher goes first
};
constexpr std::array kFacts{
    Fact{"memory", "GiB", [](const hw::System& s) { return whole(gib(s.gpu.memory)); }},
    Fact{"memory", "GB/s",
         [](const hw::System& s) { return whole(s.gpu.memory_bw.value() / kGiga); }},
    Fact{"bf16", "TFLOP/s",
         [](const hw::System& s) { return whole(s.gpu.peak[0].value() / kTera); }},
    Fact{"int8", "TOP/s", [](const hw::System& s) { return whole(s.gpu.peak[1].value() / kTera); },
         3},
    Fact{"fp8", "TFLOP/s",
         [](const hw::System& s) { return whole(s.gpu.peak[2].value() / kTera); }},
    Fact{"fp4", "TFLOP/s",
         [](const hw::System& s) { return whole(s.gpu.peak[3].value() / kTera); }},
    Fact{"node", "GPUs", [](const hw::System& s) { return fmt::format("{}", s.node.gpus); }, 1},
    Fact{"in node", "GB/s",
         [](const hw::System& s) { return whole(s.node.intra_node_bw.value() / kGiga); }, 2},
    Fact{"across", "GB/s",
         [](const hw::System& s) { return whole(s.node.inter_node_bw.value() / kGiga); }, 3},
    Fact{"tables", "", [](const hw::System& s) { return std::string(s.measured ? "yes" : "no"); }},
};

Result<int> list(const Console& console) {
  base::Json all = base::Json::array();
  std::vector<report::Column> columns{{"", "system", {}, 0, true}};
  for (const Fact& fact : kFacts) columns.push_back({fact.head, fact.unit, {}, fact.dispensable});
  for (const std::string& name : hw::system_names()) {
    SP_TRY(const hw::System system, hw::find_system(name));
    all.push_back(system_json(system));
    columns[0].cells.push_back(name);
    for (std::size_t i = 0; i < kFacts.size(); ++i) {
      columns[i + 1].cells.push_back(kFacts[i].of(system));
    }
  }
  SP_CHECK(console.print(console.json ? base::Json{{"systems", all}}.dump(2) + "\n"
                                      : report::table(console.screen, std::move(columns))));
  return kDone;
}

}  // namespace

Action systems_command(Flags&) { return list; }

}  // namespace setpoint::cli
