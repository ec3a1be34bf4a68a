// SPDX-License-Identifier: Apache-2.0
// Algorithm 2: prompts and decodes share one engine. In one round a batch is prefilled in T mixed
// steps while it decodes; a request lives D iterations. If T < D the round has T mixed and D - T
// decode-only steps, else prefill is the bottleneck and every step is mixed.
#include <algorithm>
#include <cmath>

#include "serve/constants.h"
#include "serve/engine.h"

namespace setpoint::serve {
namespace {

using framework::QueueLaw;

double d(std::int64_t value) { return static_cast<double>(value); }

struct Round {
  double batch = 0;  // requests of one wave
  double mixed = 0;  // T
  double decode_only = 0;
  double life = 0;           // D: iterations of one request, the prefill's first token included
  double chunks = 0;         // steps that prefill one prompt
  double prompt_tokens = 0;  // in a mixed step
  double decodes = 0;        // in a mixed step
  double mixed_felt = 0;     // mixed steps that count in a running request's time per token
};

// Prefill-bound rounds: a request decodes in D of T steps. Engines that follow law `batch` keep all
// others of the batch decoding.
double decodes_beside_prompts(const Round& r, double new_tokens, QueueLaw law) {
  if (r.batch <= 1 || r.life <= 1) return 0;
  if (law == QueueLaw::steps && r.mixed >= r.life) {
    return std::max(1.0, r.batch * r.life / r.mixed);
  }
  const double in_prefill = std::max(1.0, r.prompt_tokens / new_tokens);
  return std::max(1.0, r.batch - in_prefill);
}

// A request does not feel the mixed steps of its own prefill; the offset never leaves fewer than it
// takes away, so that a short prefill is not dropped.
double mixed_steps_felt(const Round& r, QueueLaw law) {
  if (r.batch <= 1) return 0;
  if (law == QueueLaw::batch || r.mixed >= r.life) return r.mixed;
  return std::max(r.mixed - kMixedOffset.value, std::min(r.mixed, kMixedOffset.value));
}

Round make_round(const Workload& w, double batch, double budget, QueueLaw law) {
  Round r;
  const double fresh = d(w.new_tokens());
  r.batch = batch;
  r.life = 1 + d(std::max<std::int64_t>(w.osl - 1, 0)) / w.tokens_per_step();
  r.mixed = std::max(1.0, std::ceil(fresh * batch / budget));
  r.decode_only = batch <= 1 ? r.life - 1 : std::max(0.0, r.life - r.mixed);
  r.chunks = std::ceil(fresh / budget);
  r.prompt_tokens = fresh * batch / r.mixed;
  r.decodes = decodes_beside_prompts(r, fresh, law);
  r.mixed_felt = mixed_steps_felt(r, law);
  return r;
}

// Mean over a request's decode steps of the tokens in its cache, the new one included.
double mean_kv(const Workload& w) { return d(w.isl) + d(w.osl) / 2; }

// Several whole prompts, or a chunk of one. A chunk attends to the prefix and to the chunks before
// it: half of the rest of the prompt on average.
step::StepShape mixed_step(const Round& r, const Workload& w) {
  const double fresh = d(w.new_tokens());
  step::StepShape s;
  s.prompt_tokens = std::min(r.prompt_tokens, fresh);
  s.prompts = r.prompt_tokens / s.prompt_tokens;
  s.sampled_prompts = r.prompt_tokens / fresh;
  s.prefix = d(w.prefix) + (fresh - s.prompt_tokens) / 2;
  s.decodes = r.decodes;
  s.kv_length = mean_kv(w);
  s.draft = w.nextn;
  return s;
}

step::StepShape decode_step(const Round& r, const Workload& w) {
  step::StepShape s;
  s.decodes = r.batch;
  s.kv_length = mean_kv(w);
  s.draft = w.nextn;
  return s;
}

double queue_factor(const Round& r, double batch, QueueLaw law) {
  if (law == QueueLaw::batch) {
    const double octaves = std::log2(std::max(batch, 1.0)) / kBatchQueueOctaves.value;
    return std::min(1 + octaves, kBatchQueueCeiling.value);
  }
  const double grown = kQueueBase.value + kQueueSlope.value * (r.mixed - kQueueOffset.value);
  return std::min(grown, kQueueCeiling.value);
}

}  // namespace

RoundSteps aggregated_steps(const Engine& engine, const Workload& w, std::int64_t batch,
                            std::int64_t budget) {
  const Round r =
      make_round(w, pipeline(engine, d(batch)).micro, d(std::max<std::int64_t>(budget, 1)),
                 engine.framework.scheduler.queue);
  return {mixed_step(r, w), decode_step(r, w), r.mixed, r.decode_only};
}

Point aggregated(Engine& engine, const Workload& w, std::int64_t batch, std::int64_t budget) {
  const QueueLaw law = engine.framework.scheduler.queue;
  const Pipeline p = pipeline(engine, d(batch));
  const Round r = make_round(w, p.micro, d(std::max<std::int64_t>(budget, 1)), law);
  const step::StepTime mixed = engine.steps.time(mixed_step(r, w));
  const step::StepTime gen =
      r.decode_only > 0 ? engine.steps.time(decode_step(r, w)) : step::StepTime{};
  Point point;
  const Ms launch =
      law == QueueLaw::batch ? Ms(kPrefillLaunch.value * d(engine.plan.layers)) : Ms{};
  point.ttft = queue_factor(r, p.micro, law) * (mixed.total * r.chunks + launch);
  const double felt = r.mixed_felt + r.decode_only;
  if (w.osl > 1 && felt > 0) {
    const Ms mean = (mixed.total * r.mixed_felt + gen.total * r.decode_only) / felt;
    point.tpot = mean / w.tokens_per_step();
  }
  point.request_latency = point.ttft + point.tpot * d(w.osl - 1);
  const Ms round = mixed.total * r.mixed + gen.total * r.decode_only;
  point.requests_per_s = p.rate(r.batch, round, engine.shard.dp);
  if (law == QueueLaw::batch) {  // no faster than the batch turns over
    point.requests_per_s =
        std::min(point.requests_per_s, p.rate(r.batch, point.request_latency, engine.shard.dp));
  }
  point.concurrency = d(batch) * engine.shard.dp;
  point.evidence.add(mixed.evidence, r.mixed / r.batch);
  point.evidence.add(gen.evidence, r.decode_only / r.batch);
  return point;
}

}  // namespace setpoint::serve
