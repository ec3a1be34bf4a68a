// SPDX-License-Identifier: Apache-2.0
// A plan: the operators one GPU runs for one pass over the model, for a given cut and precision.
// Emitted block by block (src/model/blocks/); each entry says what drives it, so that one list
// serves prefill, decode and mixed steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/framework.h"
#include "hw/system.h"
#include "ops/op.h"
#include "setpoint/model.h"
#include "setpoint/result.h"
#include "setpoint/units.h"

namespace setpoint::model {

// What an operator's size follows from.
enum class Drive : std::uint8_t {
  tokens,   // all tokens of the step: prompt and decode
  samples,  // sequences that sample a token in this step (LM head)
  prompts,  // prefill attention: requests x new tokens after a prefix
  decodes,  // decode attention and its absorbed projections: requests x KV length
};

// In which steps an entry takes part. A mixed step is a prefill step that also carries decodes: it
// runs every `prefill` entry on all its tokens, and the `decodes`-driven entries on its decodes.
enum class Phase : std::uint8_t { both, prefill, decode };

// Lanes of a region that the framework overlaps on two streams: time = max over the lanes.
enum class Lane : std::uint8_t { none, routed, shared };

struct PlanOp {
  std::string name;  // for people and JSON: "qkv_gemm", "attention", "moe", "ar_attention"
  ops::Op op;
  double count = 1;  // executions per pass (layers of this kind)
  Drive drive = Drive::tokens;
  Phase phase = Phase::both;
  Lane overlap = Lane::none;  // honoured in decode-only steps
  // tokens seen by the operator = ceil(tokens * times / over); e.g. experts see all dp ranks'
  std::int64_t tokens_times = 1, tokens_over = 1;
};

// KV cache of one sequence on one GPU of the fullest pipeline stage.
struct KvClass {
  double bytes_per_token = 0;
  std::int64_t window = 0;  // 0: every token is kept
};
struct KvFootprint {
  std::vector<KvClass> classes;
  double bytes_per_sequence = 0;      // state that does not grow
  double bytes(double tokens) const;  // of one sequence of this length
  double bytes_per_token() const;     // of a sequence shorter than every window
};

KvFootprint kv_footprint(const ModelSpec& model, const Shard& shard, ops::Quant format,
                         bool with_draft_layers);

struct Plan {
  std::vector<PlanOp> ops;
  Bytes weights{};  // per GPU, fullest pipeline stage: embeddings, norms, scales and head included
  KvFootprint kv;
  // bf16 elements that size a token's activations: heads x head_dim, hidden width for MLA
  double activation_width = 0;
  std::int64_t layers = 0;
};

struct PlanInput {
  const ModelSpec& model;
  Shard shard;
  Precision precision;
  const framework::Facts& framework;
  const hw::System& system;
  int nextn = 0;  // draft tokens per step by multi-token prediction
};

// The missing one of moe_tp and moe_ep so that moe_tp * moe_ep = tp * dp * cp. With both missing,
// experts are cut like attention: moe_ep when dp > 1, else moe_tp. Error if nothing fits.
Result<Shard> complete_shard(Shard shard, std::optional<int> moe_tp, std::optional<int> moe_ep);

// Why a cut is impossible (heads, experts or blocks do not divide, framework cannot say it), or "".
std::string infeasible_reason(const PlanInput& in);
// Of those reasons the ones that lie in the framework: it has no way to be told such a cut.
std::string framework_reason(const PlanInput& in);
// Requires an empty infeasible_reason.
Plan plan(const PlanInput& in);

// Checkpoint, framework defaults and overrides -> formats as served. `overrides`: keys gemm, moe,
// kv, fmha, comm (unknown key or mode: error with the valid ones).
struct QuantOverride {
  std::string key, mode;
};
Result<Precision> resolve_precision(const ModelSpec& model, const framework::Facts& framework,
                                    const hw::System& system,
                                    const std::vector<QuantOverride>& overrides);

}  // namespace setpoint::model
