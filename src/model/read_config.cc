// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/json.h"
#include "model/checkpoint_quant.h"
#include "model/families.h"
#include "model/fields.h"
#include "model/layers.h"
#include "model/read.h"

namespace setpoint::model {
namespace {

using base::JsonView;

constexpr std::int64_t kMostHidden = 1 << 20;
constexpr std::int64_t kMostVocab = 1 << 26;
constexpr std::int64_t kMostPositions = std::int64_t{1} << 40;
constexpr std::int64_t kMostDraftLayers = 64;
constexpr double kMostParameters = 1e15;

// The language model inside a wrapper that also holds vision or audio towers.
std::optional<JsonView> inner_text(const JsonView& top) {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    if (auto inner = top.find(key); inner && inner->is_object()) return inner;
  }
  return std::nullopt;
}

Result<std::string> architecture_of(const JsonView& top) {
  const auto list = top.find("architectures");
  if (!list) return std::string();
  SP_TRY(const auto items, list->items());
  if (items.empty()) return std::string();
  SP_TRY(std::string name, items.front().string());
  return name.substr(0, 100);
}

// false, 0, null and an empty list all mean "not there".
bool is_set(const JsonView& value) {
  const base::Json& json = value.json();
  return !(json == base::Json(false) || json == base::Json(0) || json.empty());
}

Result<void> refuse_unsupported(const Families& families, const Architecture& architecture,
                                const std::string& name, const Fields& fields,
                                const std::string& where) {
  for (const UnsupportedField& field : families.unsupported_fields) {
    if (const auto found = fields.find({field.field}); found && is_set(*found)) {
      return Error::bad_input(fmt::format("{}: field \"{}\" means {}: not supported yet", where,
                                          field.field, field.meaning));
    }
  }
  if (!architecture.unsupported.empty()) {
    return Error::bad_input(fmt::format("{}: architecture {} has {}: not supported yet", where,
                                        name, architecture.unsupported));
  }
  // MiniMax-01 kind: 1 = softmax attention, 0 = linear attention
  if (const auto kinds = fields.find({"attn_type_list"}); kinds && kinds->is_array()) {
    for (const base::Json& kind : kinds->json()) {
      if (kind == base::Json(0)) {
        return Error::bad_input(where +
                                ": field \"attn_type_list\" means linear-attention layers: not "
                                "supported yet");
      }
    }
  }
  return {};
}

std::string family_of(const ModelSpec& spec, const Architecture& architecture) {
  if (!architecture.family.empty()) return architecture.family;
  if (spec.layers.front().attention.kind == AttentionKind::mla) return "mla";
  return spec.is_moe() ? "moe" : "dense";
}

Result<void> check_size(const ModelSpec& spec, const std::string& where) {
  if (spec.layers.empty()) return Error::bad_input(where + ": no layers");
  const auto parameters = static_cast<double>(spec.parameters());
  if (!(parameters > 0 && parameters < kMostParameters)) {
    return Error::bad_input(
        fmt::format("{}: {:.3g} parameters, more than the {:.0e} that are "
                    "accepted: a size is wrong",
                    where, parameters, kMostParameters));
  }
  return {};
}

// Order of layers matters: sizes first, then what they are made of, then their number formats.
Result<ModelSpec> read(const ConfigFiles& files, const base::Json& config,
                       const std::optional<base::Json>& hf_quant) {
  const std::string where = files.origin.empty() ? files.id : files.origin;
  const JsonView top(config, where);
  if (!top.is_object()) return top.error("expected an object");
  SP_TRY(const Families families, Families::load());
  ModelSpec spec;
  spec.id = files.id;
  SP_TRY(spec.architecture, architecture_of(top));
  const Architecture architecture = families.find(spec.architecture);
  const auto text = inner_text(top);
  Fields fields(text.value_or(top), top, JsonView(architecture.defaults, "families.json"));
  SP_CHECK(refuse_unsupported(families, architecture, spec.architecture, fields, where));

  spec.hidden = fields.need({"hidden_size", "n_embd", "d_model"}, kMostHidden);
  spec.vocab = fields.need({"vocab_size", "padded_vocab_size"}, kMostVocab);
  spec.max_positions =
      fields.number({"max_position_embeddings", "n_positions", "seq_length", "max_seq_len"}, 1,
                    kMostPositions, 0);
  spec.tied_embeddings = fields.flag({"tie_word_embeddings"}, false);
  spec.mtp_layers = fields.number({"num_nextn_predict_layers"}, 0, kMostDraftLayers, 0);
  read_layers(fields, spec);
  SP_CHECK(fields.status());
  SP_CHECK(check_size(spec, where));

  spec.family = family_of(spec, architecture);
  const bool mla = spec.layers.front().attention.kind == AttentionKind::mla;
  spec.alpha = mla ? families.alpha_mla : families.alpha_moe;
  std::optional<JsonView> hf;
  if (hf_quant) hf.emplace(*hf_quant, where + ": hf_quant_config.json");
  SP_TRY(spec.quant, read_quant(fields.find({"quantization_config"}), hf, spec));
  if (!architecture.known) {
    spec.warnings.push_back(fmt::format(
        "architecture \"{}\" is not known: read by its fields as {} ({} layers, {:.3g} parameters)",
        spec.architecture, spec.family, spec.layer_count(),
        static_cast<double>(spec.parameters())));
  }
  if (text)
    spec.warnings.push_back("only the language model is priced, not its vision or audio part");
  return spec;
}

}  // namespace

Result<ModelSpec> read_config(const ConfigFiles& files) {
  const std::string where = files.origin.empty() ? files.id : files.origin;
  SP_TRY(const base::Json config, base::parse_json(files.config, where));
  std::optional<base::Json> hf_quant;
  if (files.hf_quant) {
    SP_TRY(hf_quant, base::parse_json(*files.hf_quant, where + ": hf_quant_config.json"));
  }
  return read(files, config, hf_quant);
}

}  // namespace setpoint::model
