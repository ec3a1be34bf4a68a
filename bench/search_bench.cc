// SPDX-License-Identifier: Apache-2.0
// How fast a search is, everything included: model, tables, evaluation, matching. The database is
// $SETPOINT_DB or the one beside the binary; without one, rooflines answer.
#include <benchmark/benchmark.h>

#include "search/backend.h"
#include "search/pool.h"
#include "search/search.h"

namespace {

using namespace setpoint;
using namespace setpoint::search;

SearchRequest qwen32() {
  SearchRequest request;
  request.subject.model = "Qwen/Qwen3-32B-FP8";
  request.subject.system = "h200_sxm";
  request.frameworks = {"vllm"};
  request.target.gpus = 32;
  request.sla = {.ttft = Ms(2000), .tpot = Ms(30), .request_latency = {}};
  return request;
}

SearchRequest qwen235() {
  SearchRequest request;
  request.subject.model = "Qwen/Qwen3-235B-A22B-FP8";
  request.subject.system = "h200_sxm";
  request.subject.workload = {.isl = 4096, .osl = 1024};
  request.target.gpus = 64;
  request.sla.tpot = Ms(50);
  return request;
}

void search_of(benchmark::State& state, const SearchRequest& request) {
  std::int64_t points = 0;
  for (auto _ : state) {
    const auto result = setpoint::search::search(request);
    if (!result) {
      state.SkipWithError(result.error().text.c_str());
      return;
    }
    points = result->stats.points;
  }
  state.counters["points"] = static_cast<double>(points);
}

// Distinct (layout, batch, chunk) estimates a second on one core, tables loaded: a fresh engine, so
// nothing is remembered from a round before.
void estimates(benchmark::State& state) {
  const SearchRequest request = qwen32();
  Loader loader;
  const auto backend = loader.load(request.subject, "vllm", "h200_sxm");
  if (!backend) {
    state.SkipWithError(backend.error().text.c_str());
    return;
  }
  std::int64_t points = 0;
  for (auto _ : state) {
    for (int tp : {1, 2, 4, 8}) {
      Built built = build(*backend, {.tp = tp}, 0);
      points += static_cast<std::int64_t>(
          evaluate(*built.engine, Use::mixed, request.subject.workload).size());
    }
  }
  state.SetItemsProcessed(points);
}

BENCHMARK_CAPTURE(search_of, qwen3_32b_32_h200_vllm, qwen32())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_of, qwen3_235b_64_h200_all, qwen235())->Unit(benchmark::kMillisecond);
BENCHMARK(estimates)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
