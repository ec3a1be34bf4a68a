// SPDX-License-Identifier: Apache-2.0
// A model in the precision it was published in, or in another one that was asked for.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/ids.h"
#include "model/read.h"

namespace setpoint::model {
namespace {

using ops::Quant;

constexpr int kBlackwellSm = 100;

// The word for a checkpoint's precision: that of its experts, if it has any.
std::string precision_of(const ModelSpec& spec) {
  const Quant q = spec.is_moe() ? spec.quant.moe : spec.quant.gemm;
  const double bytes = ops::bytes(q);
  if (q == Quant::int4_wo || q == Quant::w4afp8) return "int4";
  if (bytes < 1) return "fp4";
  if (bytes == 1) return ops::info(q).pipe == ops::Pipe::fp8 ? "fp8" : "int8";
  return "bf16";
}

// Which parts the published fp4 checkpoints of this architecture keep in 16 bits.
CheckpointQuant fp4_exclusions(const ModelSpec& spec) {
  for (const std::string& id : shipped_models()) {
    const auto text = shipped_config(id);
    // cheap test before parsing every file
    if (!text || text->find(spec.architecture) == std::string_view::npos) continue;
    const auto other = read_config({id, std::string(*text), std::nullopt, id});
    if (other && other->architecture == spec.architecture && other->quant.moe == Quant::nvfp4) {
      CheckpointQuant quant = other->quant;
      quant.kv.reset();
      return quant;
    }
  }
  CheckpointQuant quant;
  quant.gemm = quant.moe = Quant::nvfp4;
  return quant;
}

// Without a published checkpoint: what quantisation tools make of such a model by default.
CheckpointQuant assumed_quant(const ModelSpec& spec, const std::string& precision, int sm_version) {
  CheckpointQuant quant;
  if (precision == "fp4") quant = fp4_exclusions(spec);
  if (precision == "fp8") {
    const bool blocks = spec.is_moe() && sm_version < kBlackwellSm;
    quant.gemm = quant.moe = blocks ? Quant::fp8_block : Quant::fp8;
    quant.block = blocks ? 128 : 0;
  }
  if (precision == "int4") {
    quant.moe = Quant::int4_wo;
    if (!spec.is_moe()) quant.gemm = Quant::int4_wo;
  }
  quant.method = precision == "bf16" ? "" : precision;
  return quant;
}

}  // namespace

Result<ModelSpec> read_model(const std::string& model, const std::string& precision,
                             int sm_version) {
  constexpr std::array<std::string_view, 4> kPrecisions{"bf16", "fp8", "fp4", "int4"};
  if (!precision.empty() &&
      std::find(kPrecisions.begin(), kPrecisions.end(), precision) == kPrecisions.end()) {
    const std::vector<std::string> known(kPrecisions.begin(), kPrecisions.end());
    return Error::bad_input("--precision: " + base::unknown_name("precision", precision, known));
  }
  SP_TRY(const ConfigFiles files, find_config(model));
  SP_TRY(ModelSpec spec, read_config(files));
  if (precision.empty() || precision == precision_of(spec)) return spec;
  if (const auto other = shipped_checkpoint(files.id, precision)) {
    SP_TRY(const ConfigFiles other_files, find_config(*other));
    SP_TRY(ModelSpec published, read_config(other_files));
    published.warnings.push_back(
        fmt::format("{} in {}: as published in {}", model, precision, *other));
    return published;
  }
  spec.quant = assumed_quant(spec, precision, sm_version);
  spec.quant_assumed = true;
  spec.warnings.push_back(
      fmt::format("{} in {}: no such checkpoint is known here; assumed gemm {}, experts {}", model,
                  precision, ops::name(spec.quant.gemm), ops::name(spec.quant.moe)));
  return spec;
}

}  // namespace setpoint::model
