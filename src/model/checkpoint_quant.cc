// SPDX-License-Identifier: Apache-2.0
#include "model/checkpoint_quant.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/modules.h"

namespace setpoint::model {
namespace {

using base::JsonView;
using ops::Quant;

constexpr std::int64_t kMostBlock = 1 << 16;

struct Formats {
  Quant gemm = Quant::bfloat16, moe = Quant::bfloat16;
};

struct NamedFormat {
  std::string_view name;
  Formats formats;
};
// Formats that a single word names. Microscaled fp4 ("mxfp4") is published for experts only.
constexpr std::array kNamed{
    NamedFormat{"nvfp4", {Quant::nvfp4, Quant::nvfp4}},
    NamedFormat{"w4a16_nvfp4", {Quant::w4a16_nvfp4, Quant::w4a16_nvfp4}},
    NamedFormat{"mxfp4", {Quant::bfloat16, Quant::w4a16_mxfp4}},
    NamedFormat{"w4a16_mxfp4", {Quant::bfloat16, Quant::w4a16_mxfp4}},
    NamedFormat{"awq", {Quant::int4_wo, Quant::int4_wo}},
    NamedFormat{"w4a16_awq", {Quant::int4_wo, Quant::int4_wo}},
    NamedFormat{"w4a8_awq", {Quant::w4afp8, Quant::w4afp8}},
    NamedFormat{"w4afp8", {Quant::w4afp8, Quant::w4afp8}},
    NamedFormat{"fbgemm_fp8", {Quant::fp8, Quant::fp8}},
    NamedFormat{"fp8_pb_wo", {Quant::fp8_block, Quant::fp8_block}},
    NamedFormat{"w8a8_sq_per_channel", {Quant::sq, Quant::sq}},
    NamedFormat{"experts_int8", {Quant::bfloat16, Quant::int8_wo}},
};

std::optional<std::string> word(const JsonView& at, std::string_view key) {
  const auto found = at.find(key);
  if (!found || !found->json().is_string()) return std::nullopt;
  return base::lower(found->json().get<std::string>());
}

// "" when nothing names a scheme.
std::string scheme(const JsonView& at) {
  for (const std::string_view key : {"quant_algo", "quant_method", "quantization_method"}) {
    if (auto name = word(at, key)) return *name;
  }
  return "";
}

// The entries of these lists, as far as they are there.
Result<std::vector<std::string>> strings(const JsonView& at,
                                         std::initializer_list<std::string_view> keys) {
  std::vector<std::string> out;
  for (const std::string_view key : keys) {
    const auto list = at.find(key);
    if (!list) continue;
    SP_TRY(const auto items, list->items());
    for (const JsonView& item : items) {
      SP_TRY(out.emplace_back(), item.string());
    }
  }
  return out;
}

Result<std::int64_t> block_of(const JsonView& at) {
  for (const std::string_view key : {"weight_block_size", "block_structure"}) {
    if (const auto list = at.find(key); list && list->is_array() && !list->json().empty()) {
      SP_TRY(const auto items, list->items());
      return items.front().integer(1, kMostBlock);
    }
  }
  if (const auto size = at.find("group_size")) {
    SP_TRY(const auto value, size->integer(-1, kMostBlock));
    return std::max<std::int64_t>(value, 0);
  }
  return std::int64_t{0};
}

Result<std::int64_t> bits(const JsonView& at, std::string_view key) {
  const auto found = at.find(key);
  if (!found) return std::int64_t{0};
  return found->integer(1, 32);
}

// A compressed-tensors group: number format of weights and of activations.
Result<Formats> group_formats(const JsonView& group) {
  SP_TRY(const auto weights, group.at("weights"));
  SP_TRY(const auto w_bits, bits(weights, "num_bits"));
  const bool is_float = word(weights, "type").value_or("int") == "float";
  const auto acts = group.find("input_activations");
  std::int64_t a_bits = 16;
  bool dynamic = true;
  if (acts) {
    SP_TRY(a_bits, bits(*acts, "num_bits"));
    const auto flag = acts->find("dynamic");
    dynamic = flag && flag->json().is_boolean() && flag->json().get<bool>();
  }
  SP_TRY(const auto block, block_of(weights));
  const bool blocks = word(weights, "strategy").value_or("") == "block";
  const auto both = [](Quant q) { return Formats{q, q}; };
  if (is_float && w_bits == 8) {
    return both(blocks ? Quant::fp8_block : dynamic ? Quant::fp8 : Quant::fp8_static);
  }
  if (is_float && w_bits == 4 && block == 32) return Formats{Quant::bfloat16, Quant::w4a16_mxfp4};
  if (is_float && w_bits == 4) return both(a_bits <= 8 ? Quant::nvfp4 : Quant::w4a16_nvfp4);
  if (!is_float && w_bits == 8) return both(a_bits <= 8 ? Quant::int8 : Quant::int8_wo);
  if (!is_float && w_bits == 4) return both(a_bits <= 8 ? Quant::w4afp8 : Quant::int4_wo);
  return weights.error(
      fmt::format("{}-bit {} weights are not supported", w_bits, is_float ? "float" : "integer"));
}

// What an algorithm's name means, with the details that some names need.
Result<Formats> formats_of(const std::string& name, const JsonView& at) {
  if (name == "fp8") {
    SP_TRY(const auto block, block_of(at));
    const auto scheme_word = word(at, "activation_scheme");
    const bool dynamic = scheme_word.value_or("static") == "dynamic";
    if (block > 0) return Formats{Quant::fp8_block, Quant::fp8_block};
    return Formats{dynamic ? Quant::fp8 : Quant::fp8_static, Quant::fp8};
  }
  if (name == "gptq" || name == "bitsandbytes" || name == "auto-round") {
    SP_TRY(auto width, bits(at, "bits"));
    const auto eight = at.find("load_in_8bit");
    if (width == 0) width = eight && eight->json() == base::Json(true) ? 8 : 4;
    if (width != 4 && width != 8) return at.error(fmt::format("{}-bit weights", width));
    const Quant q = width == 4 ? Quant::int4_wo : Quant::int8_wo;
    return Formats{q, q};
  }
  for (const NamedFormat& named : kNamed) {
    if (named.name == name) return named.formats;
  }
  std::vector<std::string> known{"fp8", "gptq", "bitsandbytes", "compressed-tensors",
                                 "mixed_precision"};
  for (const NamedFormat& named : kNamed) known.emplace_back(named.name);
  return at.error(base::unknown_name("quantisation", name, known));
}

// Each part's format; nothing: in 16 bits. By Part.
using PerPart = std::array<std::optional<Formats>, kQuantisedParts.size()>;
// The names that each part goes by. By Part.
using PartNames = std::array<std::vector<std::string>, kQuantisedParts.size()>;

// A layer in the middle of those that have the part: first and last layers are often exceptions.
std::int64_t sample_layer(const ModelSpec& spec, Part part) {
  const bool only_moe = part == Part::experts || part == Part::shared;
  std::vector<std::int64_t> has;
  for (std::size_t i = 0; i < spec.order.size(); ++i) {
    const bool moe = spec.layers[spec.order[i]].ffn.moe;
    if (moe ? part != Part::dense_ffn : !only_moe) has.push_back(static_cast<std::int64_t>(i));
  }
  return has.empty() ? 0 : has[has.size() / 2];
}

PartNames names_of(const ModelSpec& spec) {
  PartNames out;
  for (const Part part : kQuantisedParts) {
    out[index(part)] = module_names(part, sample_layer(spec, part));
  }
  return out;
}

// "Linear", or no target, means every matrix but the head.
bool is_general(const std::vector<std::string>& targets) {
  return targets.empty() || std::find(targets.begin(), targets.end(), "Linear") != targets.end();
}

// Groups or per-module tags give each part a format of its own: the first that names it.
void assign(PerPart& out, const PartNames& names, const std::vector<std::string>& targets,
            const Formats& formats) {
  const bool general = is_general(targets);
  for (const Part part : kQuantisedParts) {
    auto& slot = out[index(part)];
    if (slot) continue;
    if ((general && part != Part::head) || any_matches(targets, names[index(part)])) slot = formats;
  }
}

void exclude(PerPart& out, const PartNames& names, const std::vector<std::string>& patterns) {
  for (const Part part : kQuantisedParts) {
    if (any_matches(patterns, names[index(part)])) out[index(part)].reset();
  }
}

// The one gemm format of the model is the first that a part has; parts without one are excluded.
void fold(const PerPart& in, CheckpointQuant& out) {
  const auto gemm = [&](Part part) { return in[index(part)].value_or(Formats{}).gemm; };
  const auto in_16 = [&](Part part) { return gemm(part) == Quant::bfloat16; };
  for (const Part part :
       {Part::dense_ffn, Part::attn_o, Part::attn_q, Part::attn_kv, Part::shared}) {
    if (out.gemm == Quant::bfloat16) out.gemm = gemm(part);
  }
  out.moe = in[index(Part::experts)].value_or(Formats{}).moe;
  out.attn_q_excluded = in_16(Part::attn_q);
  out.attn_kv_excluded = in_16(Part::attn_kv);
  out.attn_o_excluded = in_16(Part::attn_o);
  out.dense_ffn_excluded = in_16(Part::dense_ffn);
  out.shared_excluded = in_16(Part::shared);
  out.lm_head_quantised = !in_16(Part::head);
}

Result<PerPart> from_groups(const JsonView& groups, const PartNames& names, std::int64_t& block) {
  PerPart out;
  // groups that name modules come before the one for everything
  for (const bool general : {false, true}) {
    for (const std::string& key : groups.keys()) {
      SP_TRY(const auto group, groups.at(key));
      SP_TRY(const auto targets, strings(group, {"targets"}));
      if (is_general(targets) != general) continue;
      SP_TRY(const auto formats, group_formats(group));
      SP_TRY(const auto weights, group.at("weights"));
      SP_TRY(block, block_of(weights));
      assign(out, names, targets, formats);
    }
  }
  return out;
}

// quantized_layers: module -> {quant_algo}. One entry per module, so thousands of them.
Result<PerPart> from_layers(const JsonView& layers, const PartNames& names) {
  PerPart out;
  for (const std::string& module : layers.keys()) {
    SP_TRY(const auto entry, layers.at(module));
    const std::string name = scheme(entry);
    if (name.empty()) return entry.error("quant_algo is missing");
    SP_TRY(const auto formats, formats_of(name, entry));
    assign(out, names, {module}, formats);
  }
  return out;
}

std::optional<Quant> kv_word(const JsonView& at) {
  for (const std::string_view key :
       {"kv_cache_quant_algo", "kv_cache_quant_method", "kv_cache_dtype"}) {
    const auto name = word(at, key);
    if (!name || *name == "auto" || *name == "none") continue;
    if (name->find("fp8") != std::string::npos || *name == "e4m3" || *name == "e5m2") {
      return Quant::fp8;
    }
    if (*name == "int8") return Quant::int8;
    return Quant::bfloat16;
  }
  return std::nullopt;
}

Result<std::optional<Quant>> kv_of(const JsonView& at) {
  if (const auto named = kv_word(at)) return named;
  const auto scheme_at = at.find("kv_cache_scheme");
  if (!scheme_at || !scheme_at->is_object()) return std::optional<Quant>{};
  SP_TRY(const auto width, bits(*scheme_at, "num_bits"));
  if (width == 0 || width > 8) return std::optional<Quant>{Quant::bfloat16};
  const bool is_float = word(*scheme_at, "type").value_or("float") == "float";
  return std::optional<Quant>{is_float ? Quant::fp8 : Quant::int8};
}

Result<PerPart> parts_of(const JsonView& at, const std::string& name, const PartNames& names,
                         std::int64_t& block) {
  const auto groups = at.find("config_groups");
  if (name == "compressed-tensors" || (name == "modelopt" && groups)) {
    if (!groups) return at.error("config_groups is missing");
    return from_groups(*groups, names, block);
  }
  const auto layers = at.find("quantized_layers");
  if ((name == "mixed_precision" || name == "mixed-precision") && layers) {
    return from_layers(*layers, names);
  }
  SP_TRY(const auto formats, formats_of(name, at));
  PerPart out;
  assign(out, names, {}, formats);
  return out;
}

}  // namespace

Result<CheckpointQuant> read_quant(const std::optional<JsonView>& in_config,
                                   const std::optional<JsonView>& hf, const ModelSpec& spec) {
  CheckpointQuant out;
  std::optional<JsonView> at = in_config;
  if (hf) {
    SP_TRY(const auto inner, hf->at("quantization"));
    if (!scheme(inner).empty()) at = inner;
  }
  if (!at) return out;
  if (!at->is_object()) return at->error("expected an object");
  const std::string name = scheme(*at);
  if (name.empty()) return at->error("neither quant_algo nor quant_method is given");
  out.method = name.substr(0, 40);
  SP_TRY(out.block, block_of(*at));
  const PartNames names = names_of(spec);
  SP_TRY(auto per_part, parts_of(*at, name, names, out.block));
  SP_TRY(const auto patterns,
         strings(*at, {"exclude_modules", "ignore", "modules_to_not_convert", "ignored_layers"}));
  exclude(per_part, names, patterns);
  fold(per_part, out);
  SP_TRY(out.kv, kv_of(*at));
  return out;
}

}  // namespace setpoint::model
