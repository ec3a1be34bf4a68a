// SPDX-License-Identifier: Apache-2.0
// Why the winner won, in sentences made from the numbers: what set its batch, what the other mode
// was held up by, what most candidates failed on; or, with no winner, how close one can come.
#pragma once

#include <string>
#include <vector>

#include "search/candidate.h"
#include "search/sweep.h"
#include "setpoint/search.h"

namespace setpoint::search {

// The best of one mode, by number and as described.
struct ModeBest {
  Candidate candidate;
  Estimate estimate;
};

// "tp4 pp2", "tp1 dp8 ep8"; expert widths only when they differ from tp.
std::string label(const model::Shard& shard);
// "agg, vllm 0.24.0: 8 x (tp4, batch 96)".
std::string label(const Estimate& estimate);

std::vector<std::string> explain(const std::vector<ModeBest>& bests, const SearchRequest& request,
                                 const Tally& tally);

// `refusals`: reasons of the layouts without a single point.
NoAnswer explain_none(const SearchRequest& request, const Reach& reach, const Tally& tally,
                      const std::vector<GroupResult>& results);

}  // namespace setpoint::search
