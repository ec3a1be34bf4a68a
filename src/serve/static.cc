// SPDX-License-Identifier: Apache-2.0
// Algorithm 1: a batch prefilled in one step, then decoded in step to its end.
#include <algorithm>

#include "serve/decode_sum.h"

namespace setpoint::serve {
namespace {

constexpr std::int64_t kStride = 32;  // tokens, paper, Algorithm 1
constexpr std::int64_t kMostStrides = 16;

double d(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

step::Evidence decode_sum(Engine& engine, const Workload& w, double requests) {
  step::Evidence sum;
  const std::int64_t tokens = w.osl - 1;
  if (tokens <= 0) return sum;
  const double queries = requests * (w.nextn + 1);
  const double steps_per_token = 1 / w.tokens_per_step();
  step::StepShape shape;
  shape.decodes = requests;
  shape.draft = w.nextn;
  const std::int64_t stride = std::max(kStride, (tokens + kMostStrides - 1) / kMostStrides);
  sum.add(engine.steps.tokens(step::Pass::decode, queries), d(tokens) * steps_per_token);
  sum.add(engine.steps.samples(step::Pass::decode, queries), d(tokens) * steps_per_token);
  for (std::int64_t done = 0; done < tokens; done += stride) {
    const std::int64_t length = std::min(stride, tokens - done);
    const double kv = d(w.isl + done) + d(length + 1) / 2;
    sum.add(engine.steps.decodes(queries, kv), d(length) * steps_per_token);
  }
  return sum;
}

Point static_batch(Engine& engine, const Workload& w, std::int64_t batch) {
  const Pipeline p = pipeline(engine, d(batch));
  step::StepShape prefill;
  prefill.prompts = p.micro;
  prefill.prompt_tokens = d(w.new_tokens());
  prefill.prefix = d(w.prefix);
  const step::StepTime first = engine.steps.time(prefill);
  const step::Evidence rest = decode_sum(engine, w, p.micro);
  Point point;
  point.ttft = first.total;
  point.tpot = w.osl > 1 ? Ms(rest.total() / d(w.osl - 1)) : Ms{};
  point.request_latency = first.total + Ms(rest.total());
  point.requests_per_s = p.rate(p.micro, point.request_latency, engine.shard.dp);
  point.concurrency = d(batch) * engine.shard.dp;
  point.evidence.add(first.evidence, 1 / p.micro);
  point.evidence.add(rest, 1 / p.micro);
  return point;
}

}  // namespace setpoint::serve
