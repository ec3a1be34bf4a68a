// SPDX-License-Identifier: Apache-2.0
// Made-up answers with round numbers, so that what is printed can be checked by eye.
#pragma once

#include "search/estimate.h"
#include "setpoint/search.h"

namespace setpoint::report_test {

inline Bytes gib_of(double v) { return Bytes(static_cast<std::int64_t>(v * kBytesPerGib)); }

inline Worker worker(Role role, std::int64_t count, model::Shard shard, std::int64_t batch) {
  Worker w;
  w.role = role;
  w.count = count;
  w.system = "h200_sxm";
  w.shard = shard;
  w.precision.gemm = ops::Quant::fp8_block;
  w.batch = batch;
  w.max_num_tokens = 8192;
  w.memory = {gib_of(16), gib_of(4), gib_of(60), gib_of(0.5), gib_of(3.5), gib_of(141)};
  w.kv_tokens = 450'000;
  return w;
}

// One replica's speed from its tokens/s/GPU and tokens/s/user.
inline Estimate estimate(Mode mode, std::vector<Worker> workers, std::int64_t gpus,
                         std::int64_t replicas, double per_gpu, double per_user, double ttft) {
  Estimate e;
  e.mode = mode;
  e.framework = "vllm";
  e.framework_version = "0.24.0";
  e.workers = std::move(workers);
  e.gpus_per_replica = gpus;
  e.replicas = replicas;
  e.gpus_asked = 32;
  Performance& p = e.performance;
  p.ttft = Ms(ttft);
  p.tpot = Ms(1000 / per_user);
  p.request_latency = p.ttft + 999.0 * p.tpot;
  p.tokens_per_s = per_gpu * 32 / static_cast<double>(replicas);
  p.requests_per_s = p.tokens_per_s / 1000;
  p.concurrency = p.requests_per_s * p.request_latency.value() / 1000;
  p.evidence = {0.62, 0.2, 0, 0, 0, 0.18};
  return e;
}

inline Estimate agg(int tp, std::int64_t batch, double per_gpu, double per_user) {
  return estimate(Mode::agg, {worker(Role::mixed, 1, {tp, 1, 1, tp, 1, 1}, batch)}, tp, 32 / tp,
                  per_gpu, per_user, 812.4);
}

inline Estimate disagg(std::int64_t prefills, std::int64_t batch, double per_gpu, double per_user) {
  return estimate(Mode::disagg,
                  {worker(Role::prefill, prefills, {1, 1, 1, 1, 1, 1}, 1),
                   worker(Role::decode, 1, {2, 1, 2, 1, 4, 1}, batch)},
                  prefills + 4, 32 / (prefills + 4), per_gpu, per_user, 443.7);
}

inline search::Resolved resolved() {
  search::Resolved r;
  r.model = "Qwen/Qwen3-32B-FP8";
  r.architecture = "Qwen3ForCausalLM";
  r.family = "dense";
  r.parameters = 32'762'123'264;
  r.system = r.decode_system = "h200_sxm";
  search::ResolvedFramework vllm{"vllm", "0.24.0", "", true, false, {}};
  vllm.precision.gemm = ops::Quant::fp8_block;
  search::ResolvedFramework sglang{"sglang", "0.5.15", "0.9.9 has no tables: nearest taken",
                                   false,    false,    {}};
  r.frameworks = {vllm, sglang};
  return r;
}

inline search::SearchRequest request() {
  search::SearchRequest q;
  q.subject.model = "Qwen/Qwen3-32B-FP8";
  q.subject.system = "h200_sxm";
  q.target.gpus = 32;
  q.sla.ttft = Ms(2000);
  q.sla.tpot = Ms(30);
  return q;
}

inline search::SearchResult result() {
  search::SearchResult r;
  r.inputs = resolved();
  search::ModeResult a{Mode::agg, {agg(2, 64, 612.5, 34.1), agg(4, 96, 598.1, 36.4)}, {}};
  for (int i = 0; i < 12; ++i) a.frontier.push_back(agg(2, 1 << i, 900 - 70 * i, 12 + 9 * i));
  search::ModeResult d{Mode::disagg, {disagg(4, 96, 823.1, 34.2)}, {}};
  for (int i = 0; i < 10; ++i) d.frontier.push_back(disagg(4, 96, 1100 - 100 * i, 15 + 6 * i));
  r.modes = {a, d};
  r.best = {Mode::disagg, 0};
  r.rejected = {{"out_of_memory", 12}, {"ttft", 90}, {"tpot", 1310}};
  r.why = {"Prefill and decode are balanced: 4 prefill workers feed one decode worker.",
           "Aggregated reaches 612.5 tokens/s/GPU: prompts in its decode steps bind it by TPOT."};
  r.stats = {18234, 1510, 98, 31.5, 9.1};
  return r;
}

}  // namespace setpoint::report_test
