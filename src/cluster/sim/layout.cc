// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/sim/stages.h"

namespace setpoint::cluster {
namespace {

constexpr std::int64_t kMost = 1 << 20;

Result<void> degree(const Params& params, std::string_view name, std::int64_t& to) {
  to = params.integer(name, to);
  if (to >= 1 && to <= kMost) return {};
  return Error::bad_input(fmt::format("{}: expected a whole number from 1, found {}", name, to));
}

Result<void> divides(const char* what, std::int64_t whole, std::int64_t by) {
  if (whole % by == 0) return {};
  return Error::bad_input(fmt::format("{} ({}) is not divisible by {}", what, whole, by));
}

Result<void> read_degrees(const Params& params, Layout& to) {
  SP_CHECK(degree(params, "tensor_model_parallel_size", to.tp));
  SP_CHECK(degree(params, "pipeline_model_parallel_size", to.pp));
  SP_CHECK(degree(params, "virtual_pipeline_model_parallel_size", to.vpp));
  SP_CHECK(degree(params, "context_parallel_size", to.cp));
  SP_CHECK(degree(params, "expert_model_parallel_size", to.ep));
  to.etp = params.find("expert_tensor_parallel_size") == nullptr ? to.tp : 1;
  SP_CHECK(degree(params, "expert_tensor_parallel_size", to.etp));
  SP_CHECK(divides("world size", to.gpus, to.tp * to.pp * to.cp));
  to.dp = to.gpus / (to.tp * to.pp * to.cp);
  SP_CHECK(divides("world size", to.gpus, to.etp * to.ep * to.pp));
  to.edp = to.gpus / (to.etp * to.ep * to.pp);
  return {};
}

Result<void> read_batch(const Params& params, Layout& to) {
  to.sequence = params.number("seq_length", 0);
  if (!(to.sequence >= 1 && to.sequence <= 1e8)) {
    return Error::bad_input("seq_length: expected a number from 1 to 1e8");
  }
  SP_CHECK(degree(params, "micro_batch_size", to.micro_batch));
  to.global_batch = to.micro_batch * to.dp;
  SP_CHECK(degree(params, "global_batch_size", to.global_batch));
  SP_CHECK(divides("global batch size", to.global_batch, to.micro_batch * to.dp));
  to.micro_batches = to.global_batch / (to.micro_batch * to.dp);
  return {};
}

Result<void> check_split(const TrainModel& model, const Layout& at) {
  const auto heads = static_cast<std::int64_t>(model.heads);
  const auto groups = static_cast<std::int64_t>(model.kv_heads);
  SP_CHECK(divides("num_attention_heads", heads, at.tp));
  if (!model.mla && at.tp < groups) SP_CHECK(divides("num_query_groups", groups, at.tp));
  if (model.experts > 0) {
    SP_CHECK(divides("num_moe_experts", static_cast<std::int64_t>(model.experts), at.ep));
  }
  const auto sequence = static_cast<std::int64_t>(at.sequence);
  if (at.cp > 1) SP_CHECK(divides("seq_length", sequence, 2 * at.cp));
  if (at.sequence_parallel) SP_CHECK(divides("seq_length", sequence, at.tp));
  if (at.vpp > 1 && at.pp == 1) {
    return Error::bad_input("virtual pipeline stages need pipeline_model_parallel_size above 1");
  }
  if (at.vpp > 1) SP_CHECK(divides("number of micro-batches", at.micro_batches, at.pp));
  return {};
}

void read_precision(const Params& params, Layout& to) {
  const std::string recipe = params.word("fp8_recipe");
  if (!params.word("fp8").empty()) {
    to.precision = recipe == "mxfp8" ? Precision::mxfp8 : Precision::fp8;
  }
  if (!params.word("fp4").empty()) to.precision = Precision::nvfp4;
  to.fp8_attention =
      params.flag("fp8_dot_product_attention") || params.flag("fp8_multi_head_attention");
  to.fp8_params = params.flag("fp8_param") || params.flag("fp8_param_gather");
  to.flash_attention = params.word("attention_backend") != "unfused" &&
                       params.env("NVTE_FLASH_ATTN") + params.env("NVTE_FUSED_ATTN") != "00";
}

void read_graphs(const Params& params, Layout& to) {
  const std::string kind = params.word("cuda_graph_impl", "none");
  const auto scope = params.words("cuda_graph_scope");
  const auto has = [&](const char* part) {
    return std::find(scope.begin(), scope.end(), part) != scope.end();
  };
  if (kind == "full_iteration" || (kind == "local" && has("full_iteration"))) {
    to.graphs = Graphs::step;
  } else if (kind == "transformer_engine" || kind == "local") {
    to.graphs = Graphs::layers;
    to.attention_graphed = scope.empty() || has("attn") || has("full");
  }
}

void read_experts(const Params& params, Layout& to) {
  to.dispatch =
      params.word("moe_token_dispatcher_type") == "flex" ? Dispatch::flex : Dispatch::alltoall;
  to.grouped = params.flag("moe_grouped_gemm", true);
  to.permute_fused = params.flag("moe_permute_fusion") || to.dispatch == Dispatch::flex;
  to.experts_fused = params.flag("use_transformer_engine_op_fuser");
  to.capacity = params.find("moe_expert_capacity_factor") != nullptr;
  to.balanced = params.flag("moe_router_force_load_balancing") || to.capacity;
  to.ep_overlap = params.flag("overlap_moe_expert_parallel_comm");
}

void read_memory(const Params& params, Layout& to) {
  const std::string granularity = params.word("recompute_granularity");
  to.recompute_modules = params.words("recompute_modules");
  if (granularity == "full") to.recompute = Recompute::full;
  if (granularity == "selective") {
    to.recompute = Recompute::selective;
    if (params.find("recompute_modules") == nullptr) to.recompute_modules = {"core_attn"};
  }
  double fullest = 0;
  for (const Stage& stage : to.stages) {
    fullest = std::max(fullest, static_cast<double>(stage.layers.size()));
  }
  if (params.word("recompute_method") == "block" && fullest > 0) {
    const auto layers = static_cast<double>(params.integer("recompute_num_layers", 0));
    to.recompute_share = std::clamp(layers * static_cast<double>(to.vpp) / fullest, 0.0, 1.0);
  }
  if (params.flag("cpu_offloading") && params.flag("cpu_offloading_activations", true)) {
    const auto layers = static_cast<double>(params.integer("cpu_offloading_num_layers", 0));
    to.offloaded_activations = fullest > 0 ? std::clamp(layers / fullest, 0.0, 1.0) : 0;
  }
}

void read_optimizer(const Params& params, Layout& to) {
  to.fsdp = params.flag("use_megatron_fsdp");
  to.sharded_optimizer = to.fsdp || params.flag("use_distributed_optimizer", true);
  to.grad_overlap = params.flag("overlap_grad_reduce");
  to.grads_fp32 = params.flag("grad_reduce_in_fp32", true);
  if (params.flag("optimizer_cpu_offload")) {
    to.host_optimizer = std::clamp(params.number("optimizer_offload_fraction", 1.0), 0.0, 1.0);
  }
  to.host_copies_overlap = params.flag("overlap_cpu_optimizer_d2h_h2d");
  to.precision_aware = params.flag("use_precision_aware_optimizer");
}

}  // namespace

bool Layout::recomputes(const std::string& module) const {
  return recompute == Recompute::selective &&
         std::find(recompute_modules.begin(), recompute_modules.end(), module) !=
             recompute_modules.end();
}

Result<Layout> read_layout(const recipe::FinalValues& values, const TrainModel& model,
                           std::int64_t gpus) {
  const Params params(values);
  Layout layout;
  layout.gpus = gpus;
  SP_CHECK(read_degrees(params, layout));
  SP_CHECK(read_batch(params, layout));
  layout.sequence_parallel = params.flag("sequence_parallel") && layout.tp > 1;
  SP_TRY(layout.stages, split_stages(params, model, layout.pp, layout.vpp));
  SP_CHECK(check_split(model, layout));
  layout.tp_overlap = params.flag("tp_comm_overlap") && layout.sequence_parallel;
  layout.p2p_overlap = params.flag("overlap_p2p_comm", layout.vpp > 1);
  read_precision(params, layout);
  read_graphs(params, layout);
  read_experts(params, layout);
  read_memory(params, layout);
  read_optimizer(params, layout);
  return layout;
}

}  // namespace setpoint::cluster
