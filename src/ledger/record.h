// SPDX-License-Identifier: Apache-2.0
// A record as its line, and back.
#pragma once

#include <string>
#include <string_view>

#include "setpoint/ledger.h"

namespace setpoint::ledger {

inline constexpr std::size_t kLongestLine = std::size_t{4} << 20;  // larger things go to own files

// Sets the record's hash and gives its line, without the newline.
Result<std::string> seal(Record& record);
// One line, checked by itself: canonical, kind and fields known, hash right.
Result<Record> open_line(std::string_view line);
// What every record of a campaign names: SHA-256 of the contract's fields.
Result<std::string> campaign_of(const base::Json& contract_fields);

}  // namespace setpoint::ledger
