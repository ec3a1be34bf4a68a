// SPDX-License-Identifier: Apache-2.0
// Members of the data files of judgement, each with one line of error that names its place.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "judge/rule.h"
#include "setpoint/result.h"

namespace setpoint::judge {

// Keys outside `known` are an error; all of `needed` must be there.
Result<void> check_keys(const base::JsonView& object, std::span<const std::string_view> needed,
                        std::span<const std::string_view> optional);
// "" when it is absent.
Result<std::string> text_at(const base::JsonView& object, std::string_view key);
Result<std::vector<std::string>> texts_at(const base::JsonView& object, std::string_view key);
Result<Rule> rule_at(const base::JsonView& object, std::string_view key);
// The index of the text in a closed list of words.
Result<std::size_t> word_at(const base::JsonView& object, std::string_view key,
                            std::span<const std::string_view> words);
// `items[3] (name)` for errors inside one entry.
base::JsonView named_entry(const base::JsonView& entry, std::string_view key);
// "file:symbol" and "line" as one text.
Result<std::string> place_at(const base::JsonView& object);

}  // namespace setpoint::judge
