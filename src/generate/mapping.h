// SPDX-License-Identifier: Apache-2.0
// How settings become an engine's words: a table of rows, one for each thing that the engine is
// told. A row names the flag (or the key of an options file) and says how its value is formed; the
// flag table of the version decides whether and how it can be written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "generate/command.h"
#include "generate/flag_table.h"
#include "generate/settings.h"
#include "setpoint/result.h"

namespace setpoint::generate {

// What a row may look at.
struct Subject {
  const Settings& settings;
  const RoleSettings& role;
  const FlagTable& flags;
  const Place& place;
};

// The words after the flag; none for a bare flag; nullopt: the engine is not told.
using Value = std::optional<std::vector<Word>>;
inline const Value kUnsaid = std::nullopt;
Value bare(bool said);
Value word(std::string text);
Value word(std::int64_t number);
Value word_if(bool said, std::int64_t number);
Value text_if(bool said, std::string text);
Value named(const std::string& name);          // unsaid when empty
Value as_given(bool said, const Word& given);  // an address or rank of the target
Value words(const std::vector<std::int64_t>& numbers);
std::string share(double fraction);  // four decimals at most

struct Row {
  std::string_view flags;  // "--new|--old": the first that this version has
  Value (*value)(const Subject& subject);
};

// Rows as arguments of a command line. Notes: what a lenient plan left out.
Result<std::vector<Word>> arguments(std::span<const Row> rows, const Subject& subject,
                                    std::vector<std::string>& notes);
// Rows as an options file; "group.key" nests.
Result<base::Json> options_file(std::span<const Row> rows, const Subject& subject,
                                std::vector<std::string>& notes);

// The engines. Each is one file; command.cc holds the list of them.
Result<Command> vllm_worker(const Subject& subject);
Result<Command> sglang_worker(const Subject& subject);
Result<Command> trtllm_worker(const Subject& subject);
using Router = Result<std::optional<Command>>;
Router sglang_router(const Settings& settings, const FlagTable& flags,
                     const std::vector<PoolMember>& members, const Place& place);
Router trtllm_router(const Settings& settings, const FlagTable& flags,
                     const std::vector<PoolMember>& members, const Place& place);

}  // namespace setpoint::generate
