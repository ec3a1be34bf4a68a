// SPDX-License-Identifier: Apache-2.0
#include "generate/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "base/fields.h"

namespace setpoint::generate {
namespace {

using ops::Quant;

std::string field(const RoleSettings& role, std::string_view name) {
  return fmt::format("{}.{}", kRoleNames[static_cast<std::size_t>(role.role)], name);
}

Error refused(std::string text) { return {ErrorCode::no, std::move(text)}; }

bool plain_text(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// One data-parallel rank's GPUs stand on one node, or on whole nodes of their own.
bool ranks_fit_nodes(const RoleSettings& role) {
  const std::int64_t rank = std::int64_t{role.shard.tp} * role.shard.pp;
  return role.gpus_on_node % rank == 0 || rank % role.gpus_on_node == 0;
}

bool is_fp8(Quant q) { return q == Quant::fp8 || q == Quant::fp8_static || q == Quant::fp8_block; }

// What a checkpoint of these formats must hold: bytes a weight, since kernels differ by GPU.
bool same_weights(Quant a, Quant b) { return ops::bytes(a) == ops::bytes(b); }

}  // namespace

Result<void> check_options(const Options& options) {
  constexpr base::Range kPorts{1, 60000, true};  // room above for every worker's own
  if (!kPorts.holds(static_cast<double>(options.port))) {
    return Error::bad_input(fmt::format("--port: {}, found {}", kPorts.expected(), options.port));
  }
  static const std::regex name("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
  if (!std::regex_match(options.namespace_name, name)) {
    return Error::bad_input("--namespace: expected lower-case letters, digits and dashes, found " +
                            base::shown(options.namespace_name));
  }
  for (const auto& [flag, text] : {std::pair{"--served-name", &options.served_name},
                                   {"--model-path", &options.model_path},
                                   {"--image", &options.image},
                                   {"--framework-version", &options.engine_version}}) {
    if (!plain_text(*text)) {
      return Error::bad_input(
          fmt::format("{}: expected one line of text, found {}", flag, base::shown(*text)));
    }
  }
  return {};
}

Result<void> check_layout(const Settings& settings, const RoleSettings& role,
                          const framework::Facts& facts) {
  const model::Shard& s = role.shard;
  if (s.cp > 1 && !facts.context_parallel) {
    return refused(fmt::format("{}: {} {} has no context parallelism", field(role, "cp"),
                               facts.name, facts.version));
  }
  const std::int64_t width = std::int64_t{s.tp} * s.dp * s.cp;
  if (settings.moe && std::int64_t{s.moe_tp} * s.moe_ep != width) {
    return Error::bad_input(
        fmt::format("{}: moe_tp {} x moe_ep {} must equal tp {} x dp {} x cp {}",
                    field(role, "moe_ep"), s.moe_tp, s.moe_ep, s.tp, s.dp, s.cp));
  }
  if (settings.moe && s.moe_tp > 1 && s.moe_ep > 1 && !facts.moe_tp_and_ep) {
    return refused(
        fmt::format("{}: {} cannot cut experts (moe_tp {}) and spread them (moe_ep {}) "
                    "at once, for any target",
                    field(role, "moe_tp"), facts.name, s.moe_tp, s.moe_ep));
  }
  if (s.tp > 1 && s.dp > 1 && !facts.attention_tp_and_dp) {
    return refused(
        fmt::format("{}: {} runs attention either cut (tp {}) or data parallel (dp {}), "
                    "not both, for any target",
                    field(role, "dp"), facts.name, s.tp, s.dp));
  }
  if (role.gpus > role.gpus_per_node && role.gpus % role.gpus_per_node != 0) {
    return Error::bad_input(fmt::format(
        "{}: {} GPUs of one worker are neither at most the {} of a node nor whole nodes",
        field(role, "tp"), role.gpus, role.gpus_per_node));
  }
  if (role.nodes > 1 && s.dp > 1 && !ranks_fit_nodes(role)) {
    return Error::bad_input(fmt::format("{}: a rank of {} GPUs would straddle nodes of {} GPUs",
                                        field(role, "dp"), s.tp * s.pp, role.gpus_on_node));
  }
  return {};
}

Result<void> check_budget(const Settings& settings, std::int64_t gpus_asked) {
  if (settings.gpus() <= gpus_asked) return {};
  return Error::bad_input(fmt::format("workers: all of them need {} GPUs, more than the {} asked",
                                      settings.gpus(), gpus_asked));
}

Result<bool> online_fp8(const Deployment& deployment, const Options& options, const Worker& worker,
                        const framework::Facts& facts) {
  const bool moe = deployment.inputs.moe;
  const model::Precision& served = worker.precision;
  model::CheckpointQuant held = deployment.inputs.checkpoint;
  if (deployment.inputs.checkpoint_assumed) held = {};
  const std::string role(kRoleNames[static_cast<std::size_t>(worker.role)]);
  if (served.kv != Quant::bfloat16 && served.kv != Quant::fp8) {
    return refused(fmt::format("{}.quant.kv: {} cannot be launched: bfloat16 or fp8 can", role,
                               ops::name(served.kv)));
  }
  const bool as_held =
      same_weights(served.gemm, held.gemm) && (!moe || same_weights(served.moe, held.moe));
  if (as_held || !options.model_path.empty()) return false;
  const bool sixteen_bit = held.gemm == Quant::bfloat16 && (!moe || held.moe == Quant::bfloat16);
  const bool wants_fp8 = is_fp8(served.gemm) && (!moe || is_fp8(served.moe));
  if (sixteen_bit && wants_fp8 && facts.launch.online_fp8) return true;
  return Error::bad_input(fmt::format(
      "{}.quant.gemm: {} does not hold what was priced (gemm {}{}): give --model-path of a "
      "checkpoint that does",
      role, deployment.inputs.model, ops::name(served.gemm),
      moe ? fmt::format(", experts {}", ops::name(served.moe)) : ""));
}

}  // namespace setpoint::generate
