// SPDX-License-Identifier: Apache-2.0
// The blocks a model is made of. Each appends the operators of its layers to a plan, for every
// phase at once; sizes are those of one GPU. Lists follow AIConfigurator 0.12.0 except where
// tests/model/operators_test.cc names a difference and its cause.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/plan.h"

namespace setpoint::model::blocks {

class Emitter {
 public:
  explicit Emitter(const PlanInput& in) : in(in) {}

  const PlanInput& in;
  double count = 1;    // of every operator emitted from now on
  bool draft = false;  // multi-token prediction: in decode steps only

  struct Options {
    Drive drive = Drive::tokens;
    Phase phase = Phase::both;
    Lane overlap = Lane::none;
    std::int64_t tokens_times = 1;
    bool whole = false;  // sees every token of the step even where prompts are cut (cp)
  };
  // Equal operators of different layer kinds become one entry. With context parallelism a GPU
  // prefills 1 / cp of each prompt; decodes are not cut.
  void add(std::string_view name, ops::Op op, Options options);
  void add(std::string_view name, ops::Op op) { add(name, op, Options{}); }
  std::vector<PlanOp> take() { return std::move(ops_); }

 private:
  void put(PlanOp entry);
  std::vector<PlanOp> ops_;
};

void embedding(Emitter& out);
void head(Emitter& out);
void hand_over(Emitter& out);    // between pipeline stages
void draft_input(Emitter& out);  // joins embedding and hidden state for the draft layer
void gqa(Emitter& out, const LayerGroup& layer);
void mla(Emitter& out, const LayerGroup& layer);
void dense_ffn(Emitter& out, const LayerGroup& layer);
void moe_ffn(Emitter& out, const LayerGroup& layer);
void layer(Emitter& out, const LayerGroup& layer);

// Shared pieces.
ops::Op norm(std::int64_t width);  // reads and writes value and residual
ops::Op activation(std::int64_t inter, bool gated);
// `kv_elements`: of one token on this GPU.
void gather_kv(Emitter& out, double kv_elements);
void all_reduce(Emitter& out, std::string_view name, std::int64_t ranks);

}  // namespace setpoint::model::blocks
