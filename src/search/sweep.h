// SPDX-License-Identifier: Apache-2.0
// Evaluating every layout: threads take whole layouts, results keep their index, so the answer is
// the same for any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "search/backend.h"
#include "search/bucket.h"
#include "search/candidate.h"
#include "search/disagg.h"
#include "setpoint/search.h"

namespace setpoint::search {

// A layout to evaluate: one cut on one backend, in each of these uses.
struct Group {
  std::uint32_t index = 0;
  const Backend* backend = nullptr;
  std::size_t framework = 0;  // number of the framework in the request
  model::Shard shard;
  std::vector<Use> uses;
};

// What is kept of one layout in one use, its points forgotten.
struct Swept {
  std::vector<Candidate> best, nearest;  // at most one of each
  std::vector<Candidate> front;
  std::vector<Candidate> all;  // only when the request keeps its points
  Reach reach;
};

struct GroupResult {
  Tally tally;
  std::int64_t points = 0;       // deployments priced
  bool fits = false;             // some point fits the memory
  Bucket refused = Bucket::met;  // why no point was evaluated, with the reason in words
  std::string reason;
  Swept mixed, fixed;    // aggregated and static
  Pool prefill, decode;  // every point: they are matched later
};

// Which cuts of the backend's model to look at, `gpus` at most for one worker.
std::vector<Group> list_groups(const Backend& backend, std::size_t framework,
                               const std::vector<Use>& uses, std::int64_t gpus);

std::vector<GroupResult> sweep(const std::vector<Group>& groups, const SearchRequest& request);

// fn(i) for every i below n, on up to `threads` threads (0 = the machine's).
void parallel_for(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& fn);

}  // namespace setpoint::search
