// SPDX-License-Identifier: Apache-2.0
#include "search/sweep.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include "search/pool.h"
#include "search/space.h"

namespace setpoint::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Swept summarise(const std::vector<PoolPoint>& points, Mode mode, const Part& part,
                std::int64_t gpus, const SearchRequest& request, Tally& tally) {
  Swept out;
  double least = kNever;
  std::vector<Candidate> all;
  for (const PoolPoint& p : points) {
    if (!p.finite()) {
      tally.add(Bucket::not_finite);
      continue;
    }
    Part placed = part;
    placed.batch = p.batch;
    placed.chunk = p.chunk;
    const Candidate c = candidate(mode, placed, gpus, p, request.subject.workload, request.target);
    if (c.replicas == 0) {
      tally.add(Bucket::gpus);
      continue;
    }
    const Bucket verdict = judge(request.sla, p.ttft_ms, p.tpot_ms, p.latency_ms);
    tally.add(verdict);
    out.reach.add(p.ttft_ms, p.tpot_ms, p.latency_ms);
    all.push_back(c);
    if (verdict == Bucket::met) {
      if (out.best.empty() || better(c, out.best[0], request.target)) out.best.assign(1, c);
    } else if (out.best.empty()) {
      const double off = distance(request.sla, p.ttft_ms, p.tpot_ms, p.latency_ms);
      if (off < least) {
        least = off;
        out.nearest.assign(1, c);
      }
    }
  }
  out.front = front_of(all);
  if (request.keep_points) out.all = std::move(all);
  return out;
}

void evaluate_use(serve::Engine& engine, Use use, const Group& group, const SearchRequest& request,
                  GroupResult& out) {
  // Decode workers are not cut along the sequence: a step has one token of it.
  if (use == Use::decode && group.shard.cp > 1) return;
  std::vector<PoolPoint> points = evaluate(engine, use, request.subject.workload);
  out.fits = out.fits || !points.empty();
  if (use != Use::prefill) {  // half of a deployment: counted with its decode workers
    out.points += static_cast<std::int64_t>(points.size());
    if (points.empty()) out.tally.add(Bucket::out_of_memory);
  }
  const std::int64_t gpus = group.shard.gpus();
  const Part part{.group = group.index, .use = use};
  switch (use) {
    case Use::mixed:
      out.mixed = summarise(points, Mode::agg, part, gpus, request, out.tally);
      break;
    case Use::static_batch:
      out.fixed = summarise(points, Mode::static_batch, part, gpus, request, out.tally);
      break;
    case Use::prefill:
      out.prefill = {group.index, gpus, std::move(points)};
      break;
    case Use::decode:
      out.decode = {group.index, gpus, std::move(points)};
      break;
  }
}

GroupResult evaluate_group(const Group& group, const SearchRequest& request) {
  GroupResult out;
  Built built = build(*group.backend, group.shard, request.subject.workload.nextn);
  if (!built.engine) {
    out.refused = built.bucket;
    out.reason = std::move(built.text);
    const auto prefills = std::count(group.uses.begin(), group.uses.end(), Use::prefill);
    out.tally.add(built.bucket, static_cast<std::int64_t>(group.uses.size()) - prefills);
    return out;
  }
  for (Use use : group.uses) evaluate_use(*built.engine, use, group, request, out);
  if (!out.fits) {
    out.refused = Bucket::out_of_memory;
    out.reason = "not even one request fits beside the weights";
  }
  return out;
}

}  // namespace

void parallel_for(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& fn) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<std::size_t>(threads, n));
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < n; i = next++) fn(i);
  };
  std::vector<std::jthread> helpers;
  for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(work);
  work();
}

std::vector<Group> list_groups(const Backend& backend, std::size_t framework,
                               const std::vector<Use>& uses, std::int64_t gpus) {
  const SpaceLimits limits = space_limits(*backend.model, backend.precision, backend.system, gpus);
  std::vector<Group> out;
  for (const model::Shard& shard : list_shards(*backend.model, backend.facts, limits)) {
    out.push_back({0, &backend, framework, shard, uses});
  }
  return out;
}

std::vector<GroupResult> sweep(const std::vector<Group>& groups, const SearchRequest& request) {
  std::vector<GroupResult> out(groups.size());
  parallel_for(groups.size(), request.threads,
               [&](std::size_t i) { out[i] = evaluate_group(groups[i], request); });
  return out;
}

}  // namespace setpoint::search
