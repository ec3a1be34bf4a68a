// SPDX-License-Identifier: Apache-2.0
// Final values from files, the form recognised by content (docs/formats/final-values.md). Reading
// never guesses: a text of no known form, and one that says two things, are errors.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "recipe/diff.h"
#include "recipe/final_values.h"
#include "setpoint/result.h"

namespace setpoint::recipe {

Result<FinalValues> parse_final_values(std::string_view text, const std::string& what);

// Rank 0 stands for the run; what another rank states otherwise (RANK, ports and the like aside)
// is listed and lets the gate reject: ranks of one run train one model.
struct RankDifference {
  int rank = 0;
  Difference difference;  // base: rank 0
};
struct Run {
  FinalValues values;  // of rank 0, with the digests of the data and checkpoints it names
  int ranks = 1;
  std::vector<RankDifference> rank_differences;
};

// A file, or a folder with a file per rank. In a folder the rank is the number in a file's name
// ("rank3.json", "env-3"; none: 0), and all files of a rank together give its values: one with
// parameters, one with its environment.
Result<Run> read_run(const std::filesystem::path& path);

}  // namespace setpoint::recipe
