// SPDX-License-Identifier: Apache-2.0
// A model as training sees it: how many weights each part of a layer has, and how much work one
// token is. Read from final values; the shipped models' are in recipes/train/models.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipe/final_values.h"
#include "setpoint/result.h"

namespace setpoint::cluster {

struct Mla {
  double q_lora = 0, kv_lora = 0, nope = 0, rope = 0, v = 0;
};
struct Mamba {
  double heads = 0, head_dim = 0, state = 0, groups = 0;
  double inner() const { return heads * head_dim; }
};

// What one layer consists of. A transformer layer has attention and one feed-forward part; a layer
// of a hybrid model has a single part.
struct Layer {
  bool attention = false, dense = false, moe = false, mamba = false;
};

struct TrainModel {
  std::vector<Layer> layers;
  double hidden = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::optional<Mla> mla;
  double ffn = 0, vocab = 0;
  double experts = 0, topk = 0, moe_ffn = 0, shared_ffn = 0;
  Mamba mamba;
  int mtp = 0;
  bool gated = true, tied = false, hybrid = false;

  double qk_dim() const { return mla ? mla->nope + mla->rope : head_dim; }
  double v_dim() const { return mla ? mla->v : head_dim; }
  // Weights of one layer's part (norms and biases, under 0.01 % of a model, are left out).
  double attention_weights() const;
  double dense_weights() const { return mlp_weights(ffn); }
  double expert_weights() const { return mlp_weights(moe_ffn); }  // of one expert
  double shared_weights() const { return mlp_weights(shared_ffn); }
  double router_weights() const { return hidden * experts; }
  double mamba_weights() const;
  double vocabulary_weights() const { return vocab * hidden; }  // embedding or head alone
  double layer_weights(const Layer& layer) const;               // all experts
  double active_layer_weights(const Layer& layer) const;        // the experts of one token

  double total_weights() const;  // without the extra prediction layers
  // Model FLOPs per token, forward and backward: 6 per active matrix weight, plus attention (its
  // causal half; in full for hybrid models, as NVIDIA's published rates of Nemotron-3 count it),
  // plus the state scan. Without padding or recomputation.
  double flops_per_token(double sequence) const;

 private:
  double mlp_weights(double width) const { return (gated ? 3 : 2) * hidden * width; }
};

// An error names the parameter that is missing or out of range.
Result<TrainModel> read_train_model(const recipe::FinalValues& values);

// The parameters of a shipped model by its name; an unknown name lists the nearest.
Result<recipe::FinalValues> shipped_model(const std::string& name);

}  // namespace setpoint::cluster
