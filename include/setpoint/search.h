// SPDX-License-Identifier: Apache-2.0
// The search: every way to cut and batch a model on the GPUs at hand, evaluated, filtered by the
// latency promise and ranked. Every candidate ends in exactly one counted bucket.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "setpoint/estimate.h"
#include "setpoint/workload.h"

namespace setpoint::search {

// How many GPUs: exactly one of the three is set.
struct Target {
  std::int64_t gpus = 0;         // use this many
  double request_rate = 0;       // requests/s to serve with the fewest GPUs
  std::int64_t concurrency = 0;  // requests in flight to serve with the fewest GPUs
};

// Ranked best first, and the exact Pareto front (tokens/s/user up, tokens/s/GPU up).
struct ModeResult {
  Mode mode = Mode::agg;
  std::vector<Estimate> configs;   // at most `top`, all meeting the SLA
  std::vector<Estimate> frontier;  // over all points that fit, SLA or not
};

// When nothing meets the SLA: which bound binds, how close one can come, and the nearest points.
struct NoAnswer {
  std::string binding_limit;
  std::optional<Ms> best_ttft, best_tpot, best_request_latency;
  std::vector<Estimate> nearest;  // three
};

struct Stats {
  std::int64_t points = 0;  // (layout, batch, chunk) evaluated
  double wall_ms = 0, load_ms = 0;
};

struct SearchResult {
  std::vector<ModeResult> modes;
  std::optional<std::pair<Mode, std::size_t>> best;  // mode and index into its configs
  std::optional<NoAnswer> no_answer;
  std::map<std::string, std::int64_t> rejected;  // bucket name -> candidates
  std::vector<std::string> missing_data;  // tables whose absence dropped candidates: incomplete
  std::vector<std::string> why;           // sentences: what bound the others, agg against disagg
  Stats stats;
};

}  // namespace setpoint::search
