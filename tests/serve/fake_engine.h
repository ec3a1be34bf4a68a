// SPDX-License-Identifier: Apache-2.0
// Engines whose times can be written down by hand: a GPU of 1 TB/s that spends exactly 1 us a token
// (an element-wise operator of 1 MB a token), and an attention whose time is its KV bytes.
#pragma once

#include <gtest/gtest.h>

#include "serve/engine.h"

namespace setpoint::serve {

inline hw::System fake_system() {
  return hw::parse_system_spec("fake", "mem=100,bw=1000,bf16=1000000,inter=10").value();
}

inline model::PlanOp token_op() {
  model::PlanOp op;
  op.name = "token";
  op.op = ops::Elementwise{1e6};
  return op;
}

inline model::PlanOp prefill_only_token() {
  model::PlanOp op = token_op();
  op.phase = model::Phase::prefill;
  return op;
}

inline model::PlanOp prefill_attention() {
  model::PlanOp op;
  op.name = "attention";
  op.op = ops::ContextAttention{32, 8, 128, 0, ops::Quant::bfloat16, ops::Quant::bfloat16};
  op.drive = model::Drive::prompts;
  op.phase = model::Phase::prefill;
  return op;
}

inline model::PlanOp decode_attention() {
  model::PlanOp op;
  op.name = "attention";
  op.op = ops::GenerationAttention{32, 8, 128, 0, ops::Quant::bfloat16};
  op.drive = model::Drive::decodes;
  op.phase = model::Phase::decode;
  return op;
}

inline const model::ModelSpec& fake_model() {
  static const model::ModelSpec dense = [] {
    model::ModelSpec m;
    m.hidden = 4096;
    m.layers = {model::LayerGroup{10, {}, {}}};
    return m;
  }();
  return dense;
}

inline Engine fake_engine(const std::string& framework, std::vector<model::PlanOp> ops,
                          int pp = 1) {
  perfdb::Request request;
  request.system = fake_system();
  request.framework = framework;
  request.mode = perfdb::DataMode::roofline;
  model::Plan plan;
  plan.ops = std::move(ops);
  plan.layers = 10;
  plan.weights = Bytes(std::int64_t{20} << 30);
  plan.kv.classes = {{100000, 0}};
  plan.activation_width = 4096;
  const perfdb::PerfDb db = perfdb::PerfDb::open(request).value();
  StepCache steps(step::BoundPlan::bind(plan, db).value());
  model::Shard shard;
  shard.pp = pp;
  return Engine{&fake_model(),
                shard,
                {},
                framework::find_facts(framework, "").value(),
                request.system,
                plan,
                std::move(steps),
                {}};
}

inline Workload workload(std::int64_t isl, std::int64_t osl, std::int64_t prefix = 0) {
  Workload w;
  w.isl = isl;
  w.osl = osl;
  w.prefix = prefix;
  return w;
}

inline void expect_close(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-9 * expected);
}

}  // namespace setpoint::serve
