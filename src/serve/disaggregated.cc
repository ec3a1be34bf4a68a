// SPDX-License-Identifier: Apache-2.0
// Algorithm 3: prefill and decode workers apart. Each side alone is static batching of one phase;
// matched, the slower side sets the rate.
#include <algorithm>
#include <limits>

#include "serve/constants.h"
#include "serve/decode_sum.h"

namespace setpoint::serve {
namespace {

double d(std::int64_t value) { return static_cast<double>(value); }

// One request's KV of one GPU over that GPU's own link between nodes, at the link's full rate: a
// lower bound, without layout conversion or waiting.
Ms kv_transfer(const Engine& engine, const Workload& w) {
  return time_of(engine.plan.kv.bytes(d(w.isl)), engine.system.node.inter_node_bw);
}

}  // namespace

Point prefill(Engine& engine, const Workload& w, std::int64_t batch) {
  const Pipeline p = pipeline(engine, d(batch));
  step::StepShape shape;
  shape.prompts = p.micro;
  shape.prompt_tokens = d(w.new_tokens());
  shape.prefix = d(w.prefix);
  const step::StepTime step = engine.steps.time(shape);
  const Ms latency = step.total * kPrefillLatency.value;
  Point point;
  point.ttft = latency * kFirstToken.value;
  point.request_latency = latency;
  point.kv_transfer = kv_transfer(engine, w);
  point.requests_per_s = p.rate(p.micro, latency, engine.shard.dp);
  point.concurrency = d(batch) * engine.shard.dp;
  point.evidence.add(step.evidence, 1 / p.micro);
  return point;
}

Point decode(Engine& engine, const Workload& w, double batch) {
  const Pipeline p = pipeline(engine, batch);
  Point point;
  point.concurrency = batch * engine.shard.dp;
  if (w.osl <= 1) {
    point.requests_per_s = std::numeric_limits<double>::infinity();
    return point;
  }
  const step::Evidence steps = decode_sum(engine, w, p.micro);
  const Ms latency = Ms(steps.total()) * kDecodeLatency.value;
  point.tpot = latency / d(w.osl - 1);
  point.request_latency = latency;
  point.requests_per_s = p.rate(p.micro, latency, engine.shard.dp);
  point.evidence.add(steps, 1 / p.micro);
  return point;
}

Point disaggregated(const Point& prefill, std::int64_t x, const Point& decode, std::int64_t y,
                    const Workload& w) {
  Point point;
  point.kv_transfer = prefill.kv_transfer;
  point.ttft = prefill.ttft + prefill.kv_transfer;
  point.tpot = decode.tpot;
  point.request_latency = point.ttft + point.tpot * d(std::max<std::int64_t>(w.osl - 1, 0));
  point.requests_per_s = std::min(prefill.requests_per_s * d(x) * kPrefillRate.value,
                                  decode.requests_per_s * d(y) * kDecodeRate.value);
  point.concurrency = point.requests_per_s * point.request_latency.value() / kMsPerS;
  point.evidence.add(prefill.evidence);
  point.evidence.add(decode.evidence);
  return point;
}

}  // namespace setpoint::serve
