// SPDX-License-Identifier: Apache-2.0
// aiconf completion: completion scripts for shells, written from the table of commands, so that a
// new command or flag is completed without further work.
#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "base/text.h"
#include "cli/command.h"

namespace setpoint::cli {
namespace {

// One position of a command line: the words typed so far and what may follow them.
struct Entry {
  std::string words;  // "aiconf search"
  std::vector<Flags::Described> flags;
  std::vector<std::string> next;  // further words
};

std::vector<Flags::Described> flags_of(const Command& command) {
  Flags flags("", "", "");
  Common common;
  const Action unused = command.declare(flags);
  declare_common(flags, common);
  return flags.describe();
}

std::vector<std::string> words_after(Face face, std::string_view group) {
  std::vector<std::string> out;
  for (const Command& command : commands()) {
    if (command.face != face) continue;
    std::string_view name = command.name;
    if (!group.empty()) {
      if (!name.starts_with(std::string(group) + " ")) continue;
      name.remove_prefix(group.size() + 1);
    }
    const std::string word(name.substr(0, name.find(' ')));
    if (out.empty() || out.back() != word) out.push_back(word);
  }
  return out;
}

std::vector<Entry> entries() {
  std::vector<Entry> out;
  for (const FaceInfo& face : kFaces) {
    const std::string name(face.name);
    out.push_back({name, {}, words_after(face.face, "")});
    for (const std::string& word : words_after(face.face, "")) {
      const auto below = words_after(face.face, word);
      if (!below.empty()) out.push_back({name + " " + word, {}, below});
    }
    for (const Command& command : commands()) {
      if (command.face != face.face) continue;
      out.push_back({fmt::format("{} {}", name, command.name), flags_of(command), {}});
    }
  }
  return out;
}

std::string flag_names(const std::vector<Flags::Described>& flags) {
  std::string out;
  for (const auto& flag : flags) out += (out.empty() ? "" : " ") + flag.name;
  return out;
}

// Bash and zsh (through bashcompinit) share one script.
std::string bash_script() {
  std::string cases, values;
  for (const Entry& entry : entries()) {
    cases +=
        fmt::format("    \"{}\") words=\"{}\" ;;\n", entry.words,
                    entry.next.empty() ? flag_names(entry.flags) : base::join(entry.next, " "));
    for (const auto& flag : entry.flags) {
      if (flag.values.empty()) continue;
      values += fmt::format("    \"{} {}\") words=\"{}\" ;;\n", entry.words, flag.name,
                            base::join(flag.values, " "));
    }
  }
  return "_setpoint() {\n"
         "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  local path=\"${COMP_WORDS[0]##*/}\" words=\"\" i\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    [[ \"${COMP_WORDS[i]}\" == -* ]] && break\n"
         "    path+=\" ${COMP_WORDS[i]}\"\n"
         "  done\n"
         "  path=\"${path#setpoint }\"\n"
         "  case \"$path\" in\n    setpoint) words=\"aiconf attune\" ;;\n" +
         cases + "  esac\n  case \"$path $prev\" in\n" + values +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F _setpoint setpoint aiconf attune\n";
}

std::string escaped(std::string text) {
  for (char& c : text) {
    if (c == '\'') c = '`';
  }
  return text;
}

std::string fish_script() {
  std::string out;
  for (const Entry& entry : entries()) {
    std::istringstream words(entry.words);
    std::string face, seen;
    words >> face;
    for (std::string word; words >> word;) {
      seen += (seen.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") + word;
    }
    const std::string when = seen.empty() ? "__fish_use_subcommand" : seen;
    if (!entry.next.empty()) {
      out += fmt::format("complete -c {} -f -n '{}' -a '{}'\n", face, when,
                         base::join(entry.next, " "));
    }
    for (const auto& flag : entry.flags) {
      out += fmt::format(
          "complete -c {} -n '{}' -l {}{}{} -d '{}'\n", face, when, flag.name.substr(2),
          flag.takes_value ? " -r" : "",
          flag.values.empty() ? "" : fmt::format(" -f -a '{}'", base::join(flag.values, " ")),
          escaped(flag.help));
    }
  }
  return out;
}

}  // namespace

Action completion_command(Flags& flags) {
  auto shell = std::make_shared<std::string>();
  flags.argument("shell", *shell, "bash, zsh or fish");
  return [shell](const Console& console) -> Result<int> {
    const std::vector<std::string> known{"bash", "zsh", "fish"};
    std::string script;
    if (*shell == "fish") {
      script = fish_script();
    } else if (*shell == "bash") {
      script = bash_script();
    } else if (*shell == "zsh") {
      script = "autoload -U +X bashcompinit && bashcompinit\n" + bash_script();
    } else {
      return Error::bad_input(base::unknown_name("shell", *shell, known));
    }
    SP_CHECK(console.print(script));
    return kDone;
  };
}

}  // namespace setpoint::cli
