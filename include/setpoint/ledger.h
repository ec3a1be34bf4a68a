// SPDX-License-Identifier: Apache-2.0
// The ledger of a campaign: records that are only ever appended, one canonical JSON line each,
// every line chained to the one before by SHA-256. Whoever has the folder can read it, check that
// nothing was changed, left out or reordered, and fold it into the state of the campaign.
// docs/formats/ledger.md has the format; writing is the judge's alone (ledger/ledger.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "setpoint/result.h"

namespace setpoint::ledger {

enum class Actor : std::uint8_t { judge, agent, person, cluster };  // who caused the record
inline constexpr std::array<std::string_view, 4> kActors{"judge", "agent", "person", "cluster"};

// The prev_hash of record 0.
inline constexpr std::string_view kNoHash =
    "0000000000000000000000000000000000000000000000000000000000000000";

struct Record {
  std::int64_t seq = 0;  // from 0, without gaps
  double time = 0;       // the judge's clock, seconds since 1970 UTC
  std::string kind;      // a row of the table in ledger/kinds.cc
  Actor actor = Actor::judge;
  std::string campaign;  // SHA-256 of the contract's fields
  std::string prev_hash, hash;
  base::Json fields = base::Json::object();  // the kind's own

  // Of a field that the kind requires and the reader has therefore checked.
  std::string text(std::string_view field) const;
  double number(std::string_view field) const;
  bool yes(std::string_view field) const;
  bool has(std::string_view field) const;
  std::string text_or(std::string_view field, std::string_view otherwise) const;
  base::JsonView view() const;  // the fields, for what is nested; errors name the record
};

// Where a chain stops being one.
struct Break {
  std::size_t line = 0;  // from 1
  std::string reason;
};

struct Chain {
  std::vector<Record> records;   // up to the break
  std::size_t whole_bytes = 0;   // of their lines
  std::size_t torn_bytes = 0;    // after the last newline: a write that a crash cut short
  std::optional<Break> stopped;  // no value: the chain is whole
};

// Pure: the ledger's text, and its head file's (nothing: there is none).
Chain read_chain(std::string_view text);
// Records that the head names must be there: the tail of a chain can be cut without a trace in it.
std::optional<Break> check_head(const Chain& chain, const std::optional<std::string>& head);

// Both files of a campaign's folder, checked. An error when they cannot be read; a chain that is
// broken is an answer.
Result<Chain> read_ledger(const std::string& folder);

}  // namespace setpoint::ledger
