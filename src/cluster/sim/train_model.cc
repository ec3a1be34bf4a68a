// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/train_model.h"

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/text.h"
#include "cluster/sim/params.h"

namespace setpoint::cluster {
namespace {

constexpr int kMostLayers = 10000;
// Mamba-2's depthwise convolution has this many taps in every published model.
constexpr double kConvTaps = 4;
// Multiply-adds of the chunked state scan per token, head, channel and state, forward and backward.
constexpr double kScanFlops = 21;

Result<double> required(const Params& params, std::string_view name) {
  const double value = params.number(name, 0);
  if (value >= 1 && value <= 1e9) return value;
  return Error::bad_input(fmt::format("{}: expected a number from 1 to 1e9, found {}", name,
                                      params.find(name) ? params.find(name)->dump() : "nothing"));
}

Result<std::vector<Layer>> hybrid_layers(const std::string& pattern) {
  std::vector<Layer> layers;
  for (const char kind : pattern) {
    Layer layer;
    layer.attention = kind == '*';
    layer.dense = kind == '-';
    layer.moe = kind == 'E';
    layer.mamba = kind == 'M';
    if (!layer.attention && !layer.dense && !layer.moe && !layer.mamba) {
      return Error::bad_input(
          fmt::format("hybrid_override_pattern: expected M, *, - and E, found '{}'", kind));
    }
    layers.push_back(layer);
  }
  return layers;
}

// moe_layer_freq: absent = all, N = every N-th from the first, or a list of 0 and 1 per layer.
Result<std::vector<Layer>> transformer_layers(const Params& params, std::size_t count, bool moe) {
  const base::Json* frequency = params.find("moe_layer_freq");
  if (frequency != nullptr && frequency->is_array() && frequency->size() != count) {
    return Error::bad_input(
        fmt::format("moe_layer_freq: {} entries for {} layers", frequency->size(), count));
  }
  std::vector<Layer> layers(count);
  for (std::size_t i = 0; i < count; ++i) {
    bool sparse = moe;
    if (moe && frequency != nullptr && frequency->is_array()) sparse = (*frequency)[i] == 1;
    if (moe && frequency != nullptr && frequency->is_number_integer()) {
      const auto every = frequency->get<std::int64_t>();
      sparse = every > 0 && static_cast<std::int64_t>(i) % every == 0;
    }
    layers[i].attention = true;
    layers[i].moe = sparse;
    layers[i].dense = !sparse;
  }
  return layers;
}

Result<std::vector<Layer>> read_layers(const Params& params, bool moe) {
  SP_TRY(const double count, required(params, "num_layers"));
  if (count > kMostLayers) return Error::bad_input("num_layers: expected 1 to 10000");
  const std::string pattern = params.word("hybrid_override_pattern");
  if (pattern.empty()) return transformer_layers(params, static_cast<std::size_t>(count), moe);
  if (static_cast<double>(pattern.size()) != count) {
    return Error::bad_input(fmt::format("hybrid_override_pattern: {} layers, num_layers says {}",
                                        pattern.size(), count));
  }
  return hybrid_layers(pattern);
}

}  // namespace

double TrainModel::attention_weights() const {
  if (!mla) return 2 * hidden * heads * head_dim + 2 * hidden * kv_heads * head_dim;
  const Mla& a = *mla;
  const double query =
      a.q_lora > 0 ? a.q_lora * (hidden + heads * qk_dim()) : hidden * heads * qk_dim();
  return query + a.kv_lora * (hidden + heads * (a.nope + a.v)) + hidden * a.rope +
         heads * a.v * hidden;
}

double TrainModel::mamba_weights() const {
  const double d = mamba.inner();
  const double scan = 2 * mamba.groups * mamba.state;
  return hidden * (2 * d + scan + mamba.heads) + d * hidden + (d + scan) * kConvTaps;
}

double TrainModel::layer_weights(const Layer& layer) const {
  double weights = active_layer_weights(layer);
  if (layer.moe) weights += (experts - topk) * expert_weights();
  return weights;
}

double TrainModel::active_layer_weights(const Layer& layer) const {
  double weights = 0;
  if (layer.attention) weights += attention_weights();
  if (layer.dense) weights += dense_weights();
  if (layer.moe) weights += router_weights() + shared_weights() + topk * expert_weights();
  if (layer.mamba) weights += mamba_weights();
  return weights;
}

double TrainModel::total_weights() const {
  double weights = vocabulary_weights() * (tied ? 1 : 2);
  for (const Layer& layer : layers) weights += layer_weights(layer);
  return weights;
}

double TrainModel::flops_per_token(double sequence) const {
  double matrix = vocabulary_weights();
  double attending = 0;
  double scans = 0;
  for (const Layer& layer : layers) {
    matrix += active_layer_weights(layer);
    attending += layer.attention ? 1 : 0;
    scans += layer.mamba ? 1 : 0;
  }
  if (!layers.empty()) {
    const double extra =
        active_layer_weights(layers.back()) + 2 * hidden * hidden + vocabulary_weights();
    matrix += mtp * extra;
    attending += layers.back().attention ? mtp : 0;
  }
  const double seen = hybrid ? sequence : sequence / 2;
  return 6 * matrix + 6 * attending * heads * (qk_dim() + v_dim()) * seen +
         scans * kScanFlops * mamba.inner() * mamba.state;
}

Result<TrainModel> read_train_model(const recipe::FinalValues& values) {
  const Params params(values);
  TrainModel model;
  SP_TRY(model.hidden, required(params, "hidden_size"));
  SP_TRY(model.heads, required(params, "num_attention_heads"));
  SP_TRY(model.vocab, required(params, "vocab_size"));
  model.kv_heads = params.number("num_query_groups", model.heads);
  model.head_dim = params.number("kv_channels", model.hidden / model.heads);
  if (params.flag("multi_latent_attention")) {
    model.mla = Mla{params.number("q_lora_rank", 0), params.number("kv_lora_rank", 0),
                    params.number("qk_head_dim", 0), params.number("qk_pos_emb_head_dim", 0),
                    params.number("v_head_dim", 0)};
  }
  model.experts = params.number("num_moe_experts", 0);
  model.topk = params.number("moe_router_topk", model.experts > 0 ? 2 : 0);
  if (model.topk > model.experts) return Error::bad_input("moe_router_topk: more than the experts");
  model.hybrid = params.find("hybrid_override_pattern") != nullptr;
  SP_TRY(model.layers, read_layers(params, model.experts > 0));
  model.ffn = params.number("ffn_hidden_size", 4 * model.hidden);
  model.moe_ffn = params.number("moe_ffn_hidden_size", model.ffn);
  model.shared_ffn = params.number("moe_shared_expert_intermediate_size", 0);
  model.gated = params.flag("gated_linear_unit");
  model.tied = params.flag("share_embeddings_and_output_weights");
  model.mamba = {params.number("mamba_num_heads", 0), params.number("mamba_head_dim", 0),
                 params.number("mamba_state_dim", 0), params.number("mamba_num_groups", 0)};
  const std::int64_t mtp = params.integer("mtp_num_layers", 0);
  if (mtp < 0 || mtp > kMostLayers) return Error::bad_input("mtp_num_layers: expected 0 to 10000");
  model.mtp = static_cast<int>(mtp);
  return model;
}

Result<recipe::FinalValues> shipped_model(const std::string& name) {
  const auto text = base::embedded_file("recipes/train/models.json");
  if (!text) return Error::environment("recipes/train/models.json: not in this binary");
  SP_TRY(const auto json, base::parse_json(*text, "recipes/train/models.json"));
  const base::JsonView models(json, "models.json");
  const auto entry = models.find(name);
  if (!entry) return Error::bad_input(base::unknown_name("model", name, models.keys()));
  SP_TRY(const auto parameters, entry->at("parameters"));
  recipe::FinalValues values;
  values.framework = "megatron-bridge";
  for (const std::string& key : parameters.keys()) values.parameters[key] = parameters.json()[key];
  return values;
}

}  // namespace setpoint::cluster
