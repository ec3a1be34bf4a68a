// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/plan.h"

namespace setpoint::model {
namespace {

using ops::Quant;

// First compute capability with fp4 matrix units (Blackwell).
constexpr int kFp4Sm = 100;

// fp4 weights run on older GPUs too, multiplied in 16 bits.
Quant as_served(Quant q, const hw::System& system) {
  return q == Quant::nvfp4 && system.gpu.sm < kFp4Sm ? Quant::nvfp4_wo : q;
}

Quant part(Quant gemm, bool excluded) { return excluded ? Quant::bfloat16 : gemm; }

void set_gemm(Precision& p, const CheckpointQuant& quant, Quant gemm) {
  // With everything in 16 bits there is nothing that the checkpoint leaves out of quantisation.
  const bool any = quant.gemm != Quant::bfloat16;
  p.gemm = gemm;
  p.attn_q = part(gemm, any && quant.attn_q_excluded);
  p.attn_kv = part(gemm, any && quant.attn_kv_excluded);
  p.attn_o = part(gemm, any && quant.attn_o_excluded);
  p.dense_ffn = part(gemm, any && quant.dense_ffn_excluded);
  p.shared = part(gemm, any && quant.shared_excluded);
  p.lm_head = quant.lm_head_quantised ? gemm : Quant::bfloat16;
}

struct Key {
  std::string_view name;
  Quant Precision::*format;
  std::vector<Quant> modes;
};
const std::vector<Key>& keys() {
  static const std::vector<Key> all{
      {"gemm",
       &Precision::gemm,
       {Quant::bfloat16, Quant::int8, Quant::int8_wo, Quant::int4_wo, Quant::fp8, Quant::fp8_static,
        Quant::fp8_block, Quant::sq, Quant::nvfp4, Quant::nvfp4_wo, Quant::w4a16_nvfp4,
        Quant::w4afp8}},
      {"moe",
       &Precision::moe,
       {Quant::bfloat16, Quant::int8_wo, Quant::int4_wo, Quant::fp8, Quant::fp8_block, Quant::nvfp4,
        Quant::nvfp4_wo, Quant::w4a16_nvfp4, Quant::w4afp8, Quant::w4a16_mxfp4,
        Quant::w4a16_mxfp4_cutlass, Quant::w4a8_mxfp4_mxfp8, Quant::w4a8_mxfp4_mxfp8_trtllm}},
      {"kv", &Precision::kv, {Quant::bfloat16, Quant::fp8, Quant::int8}},
      {"fmha", &Precision::fmha, {Quant::bfloat16, Quant::fp8, Quant::fp8_block}},
      {"comm", &Precision::comm, {Quant::half, Quant::fp8, Quant::int8}},
  };
  return all;
}

Result<void> apply(const QuantOverride& wanted, const CheckpointQuant& quant, Precision& p) {
  const auto key = std::find_if(keys().begin(), keys().end(),
                                [&](const Key& k) { return k.name == wanted.key; });
  if (key == keys().end()) {
    std::vector<std::string> known;
    for (const Key& k : keys()) known.emplace_back(k.name);
    return Error::bad_input("--quant: " + base::unknown_name("key", wanted.key, known));
  }
  const auto mode = std::find_if(key->modes.begin(), key->modes.end(),
                                 [&](Quant q) { return ops::name(q) == wanted.mode; });
  if (mode == key->modes.end()) {
    std::vector<std::string> known;
    for (const Quant q : key->modes) known.emplace_back(ops::name(q));
    return Error::bad_input(fmt::format("--quant {}=: unknown mode \"{}\"; valid: {}", wanted.key,
                                        wanted.mode.substr(0, 60), base::join(known)));
  }
  p.*key->format = *mode;
  if (wanted.key == "gemm") set_gemm(p, quant, *mode);
  return {};
}

Result<void> check_peak(std::string_view what, Quant q, const hw::System& system) {
  const ops::Pipe pipe = ops::info(q).pipe;
  if (system.gpu.peak[static_cast<std::size_t>(pipe)].value() > 0) return {};
  return Error::bad_input(fmt::format(
      "{} in {} needs {} matrix units, which {} does not have: take --precision bf16 or int4, or "
      "--quant {}=int8_wo",
      what, ops::name(q), ops::kPipeNames[static_cast<std::size_t>(pipe)], system.name, what));
}

// Latent attention is run, and measured, in 16 bits whatever its cache holds.
Quant default_fmha(const ModelSpec& model, const framework::Facts& framework, Quant kv) {
  const bool latent = model.layers.front().attention.kind == AttentionKind::mla;
  return kv == Quant::fp8 && !latent ? framework.fp8_kv_fmha : Quant::bfloat16;
}

}  // namespace

Result<Precision> resolve_precision(const ModelSpec& model, const framework::Facts& framework,
                                    const hw::System& system,
                                    const std::vector<QuantOverride>& overrides) {
  Precision p;
  set_gemm(p, model.quant, as_served(model.quant.gemm, system));
  p.moe = as_served(model.quant.moe, system);
  if (p.moe == Quant::w4a16_mxfp4 && system.gpu.sm >= kFp4Sm) p.moe = framework.mxfp4_sm100;
  p.kv = model.quant.kv.value_or(framework.default_kv(system, p.gemm));
  for (const QuantOverride& wanted : overrides) {
    if (wanted.key == "kv") SP_CHECK(apply(wanted, model.quant, p));
  }
  p.fmha = default_fmha(model, framework, p.kv);
  for (const QuantOverride& wanted : overrides) SP_CHECK(apply(wanted, model.quant, p));
  SP_CHECK(check_peak("gemm", p.gemm, system));
  if (model.is_moe()) SP_CHECK(check_peak("moe", p.moe, system));
  return p;
}

}  // namespace setpoint::model
