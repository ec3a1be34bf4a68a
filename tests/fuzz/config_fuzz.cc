// SPDX-License-Identifier: Apache-2.0
// Any text as config.json, with and without hf_quant_config.json after a zero byte: an error line
// or a model whose sizes and plan can be computed.
#include <cstdlib>

#include "framework/framework.h"
#include "model/plan.h"
#include "model/read.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto system = hw::find_system("b200_sxm").value();
  static const auto facts = framework::find_facts("vllm", "0.24.0").value();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.find('\0');
  model::ConfigFiles files;
  files.id = "fuzz";
  files.config = text.substr(0, split);
  if (split != std::string::npos) files.hf_quant = text.substr(split + 1);
  const auto model = model::read_config(files);
  if (!model) {
    if (model.error().text.empty()) std::abort();
    return 0;
  }
  if (model->layer_count() <= 0 || model->parameters() <= 0) std::abort();
  const auto precision = model::resolve_precision(*model, facts, system, {});
  if (!precision) return 0;
  const model::PlanInput in{*model, model::Shard{}, *precision, facts, system, 0};
  if (!model::infeasible_reason(in).empty()) return 0;
  const model::Plan plan = model::plan(in);
  if (plan.ops.empty() || plan.weights.value() < 0 || !(plan.kv.bytes(4096) >= 0)) std::abort();
  return 0;
}
