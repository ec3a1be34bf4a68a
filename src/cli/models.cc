// SPDX-License-Identifier: Apache-2.0
// aiconf models: the models whose description is shipped. Any other of a known family can be named
// by its folder or config.json.
#include <fmt/format.h>

#include "base/json.h"
#include "cli/command.h"
#include "model/read.h"
#include "report/table.h"
#include "report/text.h"

namespace setpoint::cli {
namespace {

base::Json model_json(const model::ModelSpec& m) {
  return {{"id", m.id},
          {"architecture", m.architecture},
          {"family", m.family},
          {"parameters", m.parameters()},
          {"layers", m.layer_count()},
          {"max_positions", m.max_positions},
          {"moe", m.is_moe()},
          {"quant",
           {{"method", m.quant.method},
            {"gemm", std::string(ops::name(m.quant.gemm))},
            {"moe", std::string(ops::name(m.quant.moe))}}}};
}

void add_row(std::vector<report::Column>& columns, const model::ModelSpec& m) {
  constexpr double kBillion = 1e9;
  columns[0].cells.push_back(m.id);
  columns[1].cells.push_back(m.family);
  columns[2].cells.push_back(report::number(static_cast<double>(m.parameters()) / kBillion));
  columns[3].cells.push_back(fmt::format("{}", m.layer_count()));
  columns[4].cells.emplace_back(ops::name(m.is_moe() ? m.quant.moe : m.quant.gemm));
}

Result<int> list(const Console& console) {
  base::Json all = base::Json::array();
  std::vector<report::Column> columns{{"model", "", {}, 0, true},
                                      {"family", "", {}, 1, true},
                                      {"parameters", "billions", {}},
                                      {"layers", "", {}, 2},
                                      {"format", "", {}, 0, true}};
  for (const std::string& id : model::shipped_models()) {
    SP_TRY(const model::ModelSpec model, model::read_model(id, "", 0));
    all.push_back(model_json(model));
    add_row(columns, model);
  }
  SP_CHECK(console.print(console.json ? base::Json{{"models", all}}.dump(2) + "\n"
                                      : report::table(console.screen, std::move(columns))));
  return kDone;
}

}  // namespace

Action models_command(Flags&) { return list; }

}  // namespace setpoint::cli
