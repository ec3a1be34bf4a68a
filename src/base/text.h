// SPDX-License-Identifier: Apache-2.0
// Small text helpers for messages and for what people type.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace setpoint::base {

// Up to `most` of `known`, by edit distance to `wrong` (case-insensitive; a known name that
// contains `wrong` counts as near), nearest first.
std::vector<std::string> nearest(std::string_view wrong, std::span<const std::string> known,
                                 std::size_t most = 3);
// `unknown system "h20": nearest known: h200_sxm, h100_sxm`
std::string unknown_name(std::string_view what, std::string_view wrong,
                         std::span<const std::string> known);

std::string lower(std::string_view text);
// "a, b, c"
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

std::string grouped(std::int64_t number);                          // "18,234"
std::string count_of(std::int64_t number, std::string_view noun);  // "1 GPU", "32 GPUs"
// "KEY=VALUE" at the first '='; without one the value is missing.
std::pair<std::string, std::optional<std::string>> split_pair(const std::string& text);

}  // namespace setpoint::base
