// SPDX-License-Identifier: Apache-2.0
// Estimates per second on one core, after load: every (layout, batch, budget) of one search is
// asked once, starting from empty caches. SETPOINT_DB names the tables; without it the answers come
// from the compact model or the roofline.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "model/read.h"
#include "perfdb/compact.h"
#include "serve/engine.h"

namespace setpoint::serve {
namespace {

struct Layouts {
  model::ModelSpec model;
  std::vector<Engine> engines;
};

void add_layout(Layouts& layouts, const perfdb::PerfDb& db, const framework::Facts& facts,
                model::Shard shard) {
  const model::ModelSpec& model = layouts.model;
  const hw::System& system = db.system();
  const auto precision = model::resolve_precision(model, facts, system, {}).value();
  const model::PlanInput input{model, shard, precision, facts, system, 0};
  if (!model::infeasible_reason(input).empty()) return;
  const model::Plan plan = model::plan(input);
  layouts.engines.push_back(Engine{&model,
                                   shard,
                                   precision,
                                   facts,
                                   system,
                                   plan,
                                   StepCache(step::BoundPlan::bind(plan, db).value()),
                                   {}});
}

const Layouts& layouts(const char* model, const char* framework, bool experts) {
  static std::map<std::string, Layouts> made;
  const std::string key = std::string(model) + framework;
  const auto found = made.find(key);
  if (found != made.end()) return found->second;
  Layouts& all = made[key];
  perfdb::Request request;
  if (const char* file = std::getenv("SETPOINT_DB")) request.file = file;
  request.system = hw::find_system("h200_sxm").value();
  request.framework = framework;
  const perfdb::PerfDb db = perfdb::PerfDb::open(request).value();
  const framework::Facts facts = framework::find_facts(framework, "").value();
  all.model = model::read_model(model, "", request.system.gpu.sm).value();
  for (int width = 1; width <= 8; width *= 2) {
    for (int dp = 1; dp <= (experts ? width : 1); dp *= 2) {
      model::Shard shard;
      shard.tp = width / dp;
      shard.dp = dp;
      shard.moe_ep = experts ? width : 1;
      add_layout(all, db, facts, shard);
    }
  }
  return all;
}

void aggregated_grid(benchmark::State& state, const char* model, const char* framework,
                     bool experts) {
  const Layouts& source = layouts(model, framework, experts);
  Workload w;
  w.isl = 4000;
  w.osl = 1000;
  std::int64_t count = 0;
  for (auto _ : state) {
    double sum = 0;
    for (const Engine& layout : source.engines) {
      Engine engine = layout;  // its caches are empty
      for (std::int64_t budget = 512; budget <= 16384; budget += 512) {
        for (std::int64_t batch = 1; batch <= 512; ++batch) {
          sum += aggregated(engine, w, batch, budget).requests_per_s;
          ++count;
        }
      }
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(count);
}

void decode_batches(benchmark::State& state, const char* model, const char* framework,
                    bool experts) {
  const Layouts& source = layouts(model, framework, experts);
  Workload w;
  w.isl = 4000;
  w.osl = 1000;
  std::int64_t count = 0;
  for (auto _ : state) {
    double sum = 0;
    for (const Engine& layout : source.engines) {
      Engine engine = layout;
      for (std::int64_t batch = 1; batch <= 512; ++batch) {
        sum += decode(engine, w, static_cast<double>(batch)).requests_per_s;
        ++count;
      }
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(count);
}

// One answer of the embedded model, which stands in where tables are missing.
void compact_answer(benchmark::State& state, const ops::Op& op) {
  const auto system = hw::find_system("h200_sxm").value();
  const auto bound = perfdb::CompactModel::embedded()->bind(system, "vllm", op).value();
  double tokens = 0;
  for (auto _ : state) {
    tokens = tokens < 8192 ? tokens + 1 : 1;
    benchmark::DoNotOptimize(bound.at({tokens}));
  }
}
BENCHMARK_CAPTURE(compact_answer, gemm, ops::Gemm{ops::Quant::fp8, 8192, 8192});
BENCHMARK_CAPTURE(compact_answer, experts,
                  ops::Moe{4096, 1536, 8, 128, 1, 8, ops::Quant::fp8_block, true, 1.2});

BENCHMARK_CAPTURE(aggregated_grid, dense_vllm, "Qwen/Qwen3-32B-FP8", "vllm", false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(aggregated_grid, experts_sglang, "Qwen/Qwen3-235B-A22B-FP8", "sglang", true)
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(decode_batches, experts_sglang, "Qwen/Qwen3-235B-A22B-FP8", "sglang", true)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace setpoint::serve

BENCHMARK_MAIN();
