// SPDX-License-Identifier: Apache-2.0
// The flags of one engine in one version, from recipes/serve/<framework>.json: which exist, their
// type and choices, by version. A setting that a version cannot say is an error that names the
// nearest version which can; a flag that was renamed is written under its new name.
// The file: docs/formats/flags.md. A new version is data only (tools/extract-flags).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "setpoint/result.h"

namespace setpoint::generate {

enum class FlagType : std::uint8_t { flag, integer, number, text, json, list };

struct FlagInfo {
  std::string name;  // "--max-num-seqs", or a YAML key path "kv_cache_config.dtype"
  FlagType type = FlagType::text;
  FlagType element = FlagType::text;  // of a list
  std::vector<std::string> choices;   // empty = free
};

class FlagTable {
 public:
  // The exact version's table, else the nearest lower one with a note(); an engine older than all
  // known versions is refused.
  static Result<FlagTable> open(const std::string& framework, const std::string& version);

  const std::string& framework() const { return framework_; }
  const std::string& version() const { return version_; }              // as asked
  const std::string& table_version() const { return table_version_; }  // whose flags these are
  const std::string& note() const { return note_; }                    // "" when exact

  bool has(const std::string& name) const;  // itself, successors aside
  // The flag to write for `name` in this version: its successor where there is one, else itself.
  // An error names the nearest version that has it.
  Result<FlagInfo> find(const std::string& name) const;
  // Whether `value` is one that the flag takes here (type, choices); the error lists them. Of a
  // list each element is asked; a flag without a value takes "", one of a file true and false.
  Result<void> accepts(const FlagInfo& flag, const std::string& value) const;

 private:
  std::string framework_, version_, table_version_, note_;
  std::map<std::string, FlagInfo> flags_;         // of this version
  std::map<std::string, std::string> elsewhere_;  // other flags: nearest version with it
  std::map<std::string, std::string> successor_;  // old name -> new name
};

}  // namespace setpoint::generate
