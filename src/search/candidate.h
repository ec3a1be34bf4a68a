// SPDX-License-Identifier: Apache-2.0
// A candidate deployment in numbers only: which layouts with which batches, what they yield, and
// how many replicas the target makes of it. Names and memory are added to the few that are shown.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "search/pool.h"
#include "setpoint/search.h"

namespace setpoint::search {

// Workers of one layout. `group` numbers the layouts in their fixed order.
struct Part {
  std::uint32_t group = 0;
  Use use = Use::mixed;
  std::int64_t batch = 0, chunk = 0, count = 1;
  double load = 1;  // share of its rate that the deployment uses
};

struct Candidate {
  Mode mode = Mode::agg;
  std::array<Part, 2> parts;  // disaggregated: prefill, decode; else only the first
  double ttft_ms = 0, tpot_ms = 0, latency_ms = 0;
  std::int64_t gpus_per_replica = 0, replicas = 0, gpus_asked = 0;
  double throughput = 0;  // tokens/s/GPU over all GPUs asked for
  double user_speed = 0;  // tokens/s/user, 0 when there is no second token
};

struct Scale {
  std::int64_t replicas = 0;  // 0: the target is out of reach
  std::int64_t gpus_asked = 0;
};
// Replicas of a unit with these GPUs, rate and requests in flight.
Scale scale(const Target& target, std::int64_t gpus, double requests_per_s, double concurrency);

// One worker of an aggregated or static layout as a deployment; nothing when out of reach.
Candidate candidate(Mode mode, const Part& part, std::int64_t gpus, const PoolPoint& point,
                    const Workload& w, const Target& target);

// A strict order: by throughput for given GPUs, else by fewest GPUs; ties by user speed, GPUs in
// use, time to first token, layout order, batch, chunk.
bool better(const Candidate& a, const Candidate& b, const Target& target);
bool same_layout(const Candidate& a, const Candidate& b);

// The best of each layout, best first, at most `top`.
std::vector<Candidate> pick(std::vector<Candidate> candidates, const Target& target,
                            std::size_t top);
// The exact front of them, slowest user first.
std::vector<Candidate> front_of(const std::vector<Candidate>& candidates);

}  // namespace setpoint::search
