// SPDX-License-Identifier: Apache-2.0
// What a rendered file says, read from its text and nothing else: the flags of every engine it
// starts, in a shell line, a YAML list or an options file alike; and, through a YAML parser that is
// not the one that wrote it, how many GPUs its objects claim.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "setpoint/result.h"

namespace setpoint::generate {

// The flags of one engine's start, or of its options file: name -> the words behind it.
using Said = std::map<std::string, std::vector<std::string>, std::less<>>;

// Words of a text: quotes, brackets, commas and line continuations only separate.
std::vector<std::string> words_of(std::string_view text);
// One Said for each start: a flag that comes again begins the next, as does an options file. Only
// flags in `names` count.
std::vector<Said> starts_of(const std::vector<std::string>& words,
                            const std::set<std::string, std::less<>>& names);

struct Claims {
  std::int64_t gpus = 0;           // over all replicas and nodes
  std::set<std::int64_t> limits;   // GPUs of one container
  std::vector<std::string> names;  // metadata.name of objects
};
// Fails where the text is no YAML, or holds a null or the word None.
Result<Claims> claims_of(const std::string& yaml);

}  // namespace setpoint::generate
