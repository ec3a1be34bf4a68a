// SPDX-License-Identifier: Apache-2.0
#include "search/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "search/pool.h"

namespace setpoint::search {
namespace {

constexpr const char* kNoBubbles =
    "pipeline stages are taken as always filled: prefill and decode that alternate in a pipeline "
    "may cost more";

Worker worker_of(const Placed& placed, const Workload& w) {
  const Part& part = placed.part;
  const serve::MemoryQuestion question = memory_question(part.use, w, part.batch, part.chunk);
  Worker worker{.role = role_of(part.use),
                .count = part.count,
                .system = placed.backend->system.name,
                .shard = placed.engine->shard,
                .precision = placed.engine->precision,
                .batch = part.batch,
                .memory = serve::memory_use(*placed.engine, question)};
  worker.kv_tokens = serve::pool_tokens(*placed.engine, worker.memory);
  worker.max_num_tokens = step_token_limit(part.use, w, part.batch, part.chunk);
  return worker;
}

serve::Point replica_point(const std::vector<Placed>& workers, const Workload& w, double clients) {
  std::vector<serve::Point> points;
  for (const Placed& placed : workers) {
    points.push_back(
        price(*placed.engine, placed.part.use, w, placed.part.batch, placed.part.chunk));
  }
  if (points.size() == 1) return points[0];
  const Part &prefill = workers[0].part, &decode = workers[1].part;
  if (clients > 0) {
    return serve::closed_loop(points[0], prefill.count, *workers[1].engine, decode.count,
                              decode.batch, w, clients);
  }
  return serve::disaggregated(points[0], prefill.count, points[1], decode.count, w);
}

// Worth a word when it is a good part of the time to first token.
std::string waiting_text(const serve::Point& point) {
  constexpr double kWorth = 0.25;
  if (point.waiting.time < point.ttft * kWorth || point.ttft <= Ms{}) return "";
  return fmt::format(
      "the {} pool is {:.0f} % busy: requests wait {:.0f} ms for it on average, which TTFT and "
      "request latency include",
      kRoleNames[std::size_t(point.waiting.role)], 100 * point.waiting.busy,
      point.waiting.time.value());
}

Performance performance_of(const serve::Point& point, const Workload& w) {
  Performance out{.ttft = point.ttft,
                  .tpot = point.tpot,
                  .request_latency = point.request_latency,
                  .concurrency = point.concurrency,
                  .requests_per_s = point.requests_per_s,
                  .tokens_per_s = point.requests_per_s * static_cast<double>(w.osl)};
  const double total = point.evidence.total();
  for (std::size_t i = 0; i < out.evidence.size() && total > 0; ++i) {
    out.evidence[i] = point.evidence.ms[i] / total;
  }
  return out;
}

void add_unique(std::vector<std::string>& notes, const std::string& note) {
  if (!note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end()) {
    notes.push_back(note);
  }
}

}  // namespace

Estimate describe(Mode mode, const std::vector<Placed>& workers, const Workload& w,
                  std::int64_t replicas, std::int64_t gpus_asked, std::int64_t clients) {
  const serve::Point point =
      replica_point(workers, w, static_cast<double>(clients) / static_cast<double>(replicas));
  Estimate out{.mode = mode,
               .framework = workers[0].backend->facts.name,
               .framework_version = workers[0].backend->version(),
               .workers = {},
               .performance = performance_of(point, w),
               .replicas = replicas,
               .warnings = {}};
  for (const Placed& placed : workers) {
    out.workers.push_back(worker_of(placed, w));
    out.gpus_per_replica += placed.part.count * placed.engine->shard.gpus();
    add_unique(out.warnings, placed.backend->resolved().note);
    if (placed.engine->shard.pp > 1) add_unique(out.warnings, kNoBubbles);
  }
  add_unique(out.warnings, waiting_text(point));
  out.gpus_asked = gpus_asked > 0 ? gpus_asked : out.gpus_used();
  return out;
}

}  // namespace setpoint::search
