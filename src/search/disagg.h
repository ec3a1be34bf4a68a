// SPDX-License-Identifier: Apache-2.0
// Disaggregated deployments from pools evaluated once: every prefill layout with every decode
// layout, their workers matched exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "search/bucket.h"
#include "search/candidate.h"
#include "search/pool.h"
#include "setpoint/search.h"

namespace setpoint::search {

struct Pool {
  std::uint32_t group = 0;
  std::int64_t gpus = 1;  // of one worker
  std::vector<PoolPoint> points;
};

struct DisaggResult {
  std::vector<Candidate> best;     // of each pair of layouts, keeping every bound
  std::vector<Candidate> front;    // over all pairs, bounds or not
  std::vector<Candidate> all;      // each decode point with its best prefill pool
  std::vector<Candidate> nearest;  // of each pair, when nothing keeps every bound
  Reach reach;
  Tally tally;  // of the decode points
};

DisaggResult match_pools(const std::vector<Pool>& prefill, const std::vector<Pool>& decode,
                         const Workload& w, const Sla& sla, const Target& target);

}  // namespace setpoint::search
