// SPDX-License-Identifier: Apache-2.0
// aiconf models: the models whose description is shipped. Any other of a known family can be named
// by its folder or config.json.
#include "cli/command.h"
#include "cli/list.h"
#include "model/read.h"

namespace setpoint::cli {
namespace {

constexpr std::array kColumns{ListColumn{"id", "model"}, ListColumn{"family", "family", "", 1},
                              ListColumn{"parameters", "parameters", "billions", 0, 1e-9},
                              ListColumn{"layers", "layers", "", 2},
                              ListColumn{"format", "format"}};

base::Json model_json(const model::ModelSpec& m) {
  return {{"id", m.id},
          {"architecture", m.architecture},
          {"family", m.family},
          {"parameters", m.parameters()},
          {"layers", m.layer_count()},
          {"max_positions", m.max_positions},
          {"moe", m.is_moe()},
          {"format", ops::name(m.is_moe() ? m.quant.moe : m.quant.gemm)},
          {"quant",
           {{"method", m.quant.method},
            {"gemm", ops::name(m.quant.gemm)},
            {"moe", ops::name(m.quant.moe)}}}};
}

Result<int> list(const Console& console) {
  base::Json all = base::Json::array();
  for (const std::string& id : model::shipped_models()) {
    SP_TRY(const model::ModelSpec model, model::read_model(id, "", 0));
    all.push_back(model_json(model));
  }
  SP_CHECK(console.print(console.json ? base::json_text(base::Json{{"models", all}}, 2) + "\n"
                                      : list_text(console.screen, all, kColumns)));
  return kDone;
}

}  // namespace

Action models_command(Flags&) { return list; }

}  // namespace setpoint::cli
