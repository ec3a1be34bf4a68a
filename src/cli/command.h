// SPDX-License-Identifier: Apache-2.0
// The table of commands. A command is one file in this folder (parse, call, print) and one line in
// commands.cc. Its function declares the flags and gives back what to do once they are parsed.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "cli/console.h"
#include "cli/flags.h"
#include "setpoint/result.h"

namespace setpoint::cli {

enum class Face : std::uint8_t { aiconf, attune };
struct FaceInfo {
  Face face;
  std::string_view name, summary;
};
inline constexpr std::array kFaces{
    FaceInfo{Face::aiconf, "aiconf", "Find LLM serving configurations from measured operators"},
    FaceInfo{Face::attune, "attune", "Tune training recipes while fixed code judges"},
};

// Exit codes; those of errors are in ErrorCode. docs/cli.md has the table.
inline constexpr int kDone = 0;
inline constexpr int kNo = 1;

// The exit code (kDone or kNo), or an error, which is printed as one line.
using Action = std::function<Result<int>(const Console&)>;

struct Command {
  Face face;
  std::string_view name;  // "search"; of a group two words: "db import"
  std::string_view summary;
  std::string_view example;
  Action (*declare)(Flags&);
};

std::span<const Command> commands();

// The flags of a command, those that every command has included.
struct Common {
  bool json = false, quiet = false, help = false;
  int verbose = 0;
};
void declare_common(Flags& flags, Common& common);

// One per command, each in the file of its name.
Action search_command(Flags& flags);
Action estimate_command(Flags& flags);
Action generate_command(Flags& flags);
Action support_command(Flags& flags);
Action models_command(Flags& flags);
Action systems_command(Flags& flags);
Action completion_command(Flags& flags);
Action gate_command(Flags& flags);
Action profile_command(Flags& flags);
Action db_import_command(Flags& flags);
Action db_list_command(Flags& flags);
Action db_query_command(Flags& flags);
Action db_show_command(Flags& flags);
Action db_verify_command(Flags& flags);
Action register_check_command(Flags& flags);
Action register_diff_command(Flags& flags);
Action register_show_command(Flags& flags);
Action ledger_verify_command(Flags& flags);
Action ledger_show_command(Flags& flags);
Action ledger_export_command(Flags& flags);
Action budget_command(Flags& flags);

}  // namespace setpoint::cli
