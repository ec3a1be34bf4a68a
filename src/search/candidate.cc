// SPDX-License-Identifier: Apache-2.0
#include "search/candidate.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "search/front.h"

namespace setpoint::search {
namespace {

std::int64_t replicas_for(double wanted, double each) {
  const double replicas = std::ceil(wanted / each);
  return replicas <= static_cast<double>(kMostGpus)
             ? std::max<std::int64_t>(1, static_cast<std::int64_t>(replicas))
             : kMostGpus + 1;
}

auto tie_order(const Candidate& c) {
  return std::tuple(-c.user_speed, c.gpus_per_replica * c.replicas, c.ttft_ms, c.parts[0].group,
                    c.parts[1].group, c.parts[0].batch, c.parts[1].batch, c.parts[0].chunk);
}

}  // namespace

Scale scale(const Target& target, std::int64_t gpus, double requests_per_s, double concurrency) {
  if (target.gpus > 0) return {target.gpus / gpus, target.gpus};
  const std::int64_t replicas =
      target.request_rate > 0 ? replicas_for(target.request_rate, requests_per_s)
                              : replicas_for(static_cast<double>(target.concurrency), concurrency);
  if (replicas * gpus > kMostGpus) return {};
  return {replicas, replicas * gpus};
}

Candidate candidate(Mode mode, const Part& part, std::int64_t gpus, const PoolPoint& point,
                    const Workload& w, const Target& target) {
  const Scale scaled = scale(target, gpus, point.requests_per_s, point.concurrency);
  Candidate c{.mode = mode,
              .parts = {part, Part{}},
              .ttft_ms = point.ttft_ms,
              .tpot_ms = point.tpot_ms,
              .latency_ms = point.latency_ms,
              .gpus_per_replica = gpus,
              .replicas = scaled.replicas,
              .gpus_asked = scaled.gpus_asked};
  if (scaled.replicas == 0) return c;
  c.throughput = point.requests_per_s * static_cast<double>(w.osl) *
                 static_cast<double>(scaled.replicas) / static_cast<double>(scaled.gpus_asked);
  c.user_speed = point.tpot_ms > 0 ? kMsPerS / point.tpot_ms : 0;
  return c;
}

bool better(const Candidate& a, const Candidate& b, const Target& target) {
  if (target.gpus == 0 && a.gpus_asked != b.gpus_asked) return a.gpus_asked < b.gpus_asked;
  if (a.throughput != b.throughput) return a.throughput > b.throughput;
  return tie_order(a) < tie_order(b);
}

bool same_layout(const Candidate& a, const Candidate& b) {
  return a.mode == b.mode && a.parts[0].group == b.parts[0].group &&
         a.parts[1].group == b.parts[1].group;
}

std::vector<Candidate> pick(std::vector<Candidate> candidates, const Target& target,
                            std::size_t top) {
  std::sort(candidates.begin(), candidates.end(),
            [&](const Candidate& a, const Candidate& b) { return better(a, b, target); });
  std::vector<Candidate> out;
  for (const Candidate& c : candidates) {
    if (out.size() == top) break;
    const auto known = [&](const Candidate& o) { return same_layout(o, c); };
    if (std::none_of(out.begin(), out.end(), known)) out.push_back(c);
  }
  return out;
}

std::vector<Candidate> front_of(const std::vector<Candidate>& candidates) {
  std::vector<FrontPoint> points;
  points.reserve(candidates.size());
  for (const Candidate& c : candidates) {
    points.push_back({c.user_speed, c.throughput, c.gpus_per_replica * c.replicas});
  }
  std::vector<Candidate> out;
  for (std::size_t i : pareto_front(points)) out.push_back(candidates[i]);
  return out;
}

}  // namespace setpoint::search
