// SPDX-License-Identifier: Apache-2.0
// Why the winner won, in sentences made from the numbers: what keeps it from a faster point, what
// holds up the best of the other mode; or, with no winner, how close one can come.
#pragma once

#include <string>
#include <vector>

#include "search/candidate.h"
#include "search/sweep.h"
#include "setpoint/search.h"

namespace setpoint::search {

// The best of one mode, by number and as described, and what bounds it.
struct ModeBest {
  Candidate candidate;
  Estimate estimate;
  std::string limit;
};

// What keeps this deployment's mixed or decode workers from a faster point, found among the points
// of their layout: the bound that the nearest faster one breaks, memory, or throughput itself.
std::string what_limits(const Candidate& c, const std::vector<PoolPoint>& points,
                        const SearchRequest& request);

std::vector<std::string> explain(const std::vector<ModeBest>& bests);

// `results` of all layouts: the refusals among them say why nothing ran.
NoAnswer explain_none(const SearchRequest& request, const Reach& reach, const Tally& tally,
                      const std::vector<GroupResult>& results);

}  // namespace setpoint::search
