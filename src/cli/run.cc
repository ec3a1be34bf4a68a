// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "cli/command.h"
#include "cli/console.h"

namespace setpoint::cli {
namespace {

using Words = std::span<const std::string>;

int code_of(const Error& error) { return static_cast<int>(error.code); }

constexpr std::size_t kLongestError = 1000;  // bytes: what a caller repeats may be any length

// One line, whatever the text holds; a closed standard error is no second error.
int fail(std::string_view program, const Error& error) {
  std::string text = fmt::format("{}: {}", program, error.text);
  if (text.size() > kLongestError) text = text.substr(0, kLongestError) + "...";
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
  return code_of(error);
}

int print(std::string_view program, const Console& console, std::string_view text) {
  const auto printed = console.print(text);
  return printed.ok() ? kDone : fail(program, printed.error());
}

std::string version_text() { return "setpoint " SETPOINT_VERSION "\n"; }
bool asks_help(const std::string& word) { return word == "-h" || word == "--help"; }

std::vector<const Command*> commands_of(Face face) {
  std::vector<const Command*> out;
  for (const Command& command : commands()) {
    if (command.face == face) out.push_back(&command);
  }
  return out;
}

std::string face_help(const FaceInfo& face) {
  std::string text = fmt::format("{}\n\nUsage: {} COMMAND [OPTIONS]\n\n", face.summary, face.name);
  const auto list = commands_of(face.face);
  if (list.empty()) return text + "This version has no commands here yet.\n";
  text += "Commands:\n";
  for (const Command* command : list) {
    text += fmt::format("  {:<15}{}\n", command->name, command->summary);
  }
  return text + fmt::format("\n{} COMMAND --help shows flags and an example; {} --version.\n",
                            face.name, face.name);
}

std::string program_help() {
  std::string text =
      "Usage: setpoint FACE COMMAND [OPTIONS]\n\nFaces (also programs of their own):\n";
  for (const FaceInfo& face : kFaces) {
    text += fmt::format("  {:<14}{}\n", face.name, face.summary);
  }
  return text + "\nsetpoint FACE --help lists the commands of a face.\n";
}

Error unknown_command(const FaceInfo& face, const std::string& word) {
  std::vector<std::string> known;
  for (const Command* command : commands_of(face.face)) {
    const std::string name(command->name), group = name.substr(0, name.find(' '));
    if (group != name && (known.empty() || !known.back().starts_with(group)))
      known.push_back(group);
    known.push_back(name);
  }
  return Error::bad_input(base::unknown_name("command", word, known));
}

int run_command(const FaceInfo& face, const Command& command, Words args, Console console) {
  const std::string program = fmt::format("{} {}", face.name, command.name);
  Flags flags;
  Common common;
  const Action action = command.declare(flags);
  declare_common(flags, common);
  const auto parsed = flags.parse({args.begin(), args.end()});
  if (!parsed) return fail(program, parsed.error());
  if (common.help) {
    return print(program, console, flags.help(program, command.summary, command.example));
  }
  console.json = common.json;
  console.quiet = common.quiet;
  console.verbose = common.verbose;
  console.progress = console.progress && !common.quiet;
  const auto code = action(console);
  return code.ok() ? *code : fail(program, code.error());
}

// The command that the first word, or the first two, name.
const Command* find_command(Face face, Words args) {
  for (const Command* command : commands_of(face)) {
    if (command->name == args[0]) return command;
    if (args.size() > 1 && command->name == fmt::format("{} {}", args[0], args[1])) return command;
  }
  return nullptr;
}

// "db" alone or with --help: the commands of that group.
std::string group_help(const FaceInfo& face, const std::string& word) {
  std::string text;
  for (const Command* command : commands_of(face.face)) {
    if (!command->name.starts_with(word + " ")) continue;
    text += fmt::format("  {:<22}{}\n", fmt::format("{} {}", face.name, command->name),
                        command->summary);
  }
  return text;
}

int run_face(const FaceInfo& face, Words args, const Console& console) {
  if (args.empty() || asks_help(args[0])) {
    const int code = print(face.name, console, face_help(face));
    return args.empty() ? static_cast<int>(ErrorCode::bad_input) : code;
  }
  if (args[0] == "--version") return print(face.name, console, version_text());
  if (const Command* command = find_command(face.face, args)) {
    const auto words = std::count(command->name.begin(), command->name.end(), ' ') + 1;
    return run_command(face, *command, args.subspan(static_cast<std::size_t>(words)), console);
  }
  const std::string group = group_help(face, args[0]);
  if (!group.empty() && (args.size() == 1 || asks_help(args[1]))) {
    const int code = print(face.name, console, "Commands:\n" + group);
    return args.size() == 1 ? static_cast<int>(ErrorCode::bad_input) : code;
  }
  const std::string word = group.empty() ? args[0] : fmt::format("{} {}", args[0], args[1]);
  return fail(face.name, unknown_command(face, word));
}

std::optional<FaceInfo> find_face(std::string_view name) {
  for (const FaceInfo& face : kFaces) {
    if (face.name == name) return face;
  }
  return std::nullopt;
}

int run_program(Words args, const Console& console) {
  if (args.empty() || asks_help(args[0])) {
    const int code = print("setpoint", console, program_help());
    return args.empty() ? static_cast<int>(ErrorCode::bad_input) : code;
  }
  if (args[0] == "--version") return print("setpoint", console, version_text());
  if (const auto face = find_face(args[0])) return run_face(*face, args.subspan(1), console);
  std::vector<std::string> known;
  for (const FaceInfo& face : kFaces) {
    known.emplace_back(face.name);
    if (find_command(face.face, args) != nullptr) {
      return fail("setpoint",
                  Error::bad_input(fmt::format("\"{}\" is a command of {}: setpoint {} {}", args[0],
                                               face.name, face.name, args[0])));
    }
  }
  return fail("setpoint", Error::bad_input(base::unknown_name("face", args[0], known)));
}

}  // namespace

int run(const std::vector<std::string>& args) {
  const Words all(args);
  const Words rest = all.empty() ? all : all.subspan(1);
  const std::string name = all.empty() ? "" : std::filesystem::path(all[0]).filename().string();
  try {
    const Console console = find_console();
    const auto face = find_face(name);
    return face ? run_face(*face, rest, console) : run_program(rest, console);
  } catch (const std::bad_alloc&) {
    return fail("setpoint", Error::environment("out of memory"));
  } catch (const std::exception& e) {  // a library's, escaped: a fault of this program
    return fail("setpoint", Error::environment(fmt::format("unexpected failure: {}", e.what())));
  }
}

}  // namespace setpoint::cli
