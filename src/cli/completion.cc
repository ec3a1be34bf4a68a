// SPDX-License-Identifier: Apache-2.0
// aiconf completion: a script for the shell, which asks this program for the words that may follow.
// They come from the tables of commands and flags: a new one is completed without further work.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "base/text.h"
#include "cli/command.h"

namespace setpoint::cli {
namespace {

// bash, and zsh through its bashcompinit.
constexpr std::string_view kBash =
    "_setpoint() {\n"
    "  COMPREPLY=($(compgen -W \"$(SETPOINT_WORDS=\"${COMP_WORDS[*]:0:COMP_CWORD}\" \\\n"
    "    setpoint aiconf completion words)\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
    "}\n"
    "complete -o default -F _setpoint setpoint aiconf attune\n";
constexpr std::string_view kZsh = "autoload -U +X bashcompinit && bashcompinit\n";
constexpr std::string_view kFish =
    "for program in setpoint aiconf attune\n"
    "  complete -c $program -a '(env SETPOINT_WORDS=(commandline -opc | string join \" \") \\\n"
    "    setpoint aiconf completion words)'\n"
    "end\n";

Strings flag_words(const Command& command, const std::string& previous) {
  Flags flags;
  Common common;
  const Action unused = command.declare(flags);
  declare_common(flags, common);
  Strings names;
  for (const Flag& flag : flags.all()) {
    if (flag.name == previous && !flag.unit.empty()) return flag.values;
    if (flag.name.starts_with("--")) names.push_back(flag.name);
  }
  return names;
}

// What may follow these words: "aiconf db" -> import, list, ...
Strings words_after(const std::string& typed) {
  std::istringstream in(typed);
  Strings words{std::istream_iterator<std::string>(in), {}};
  if (!words.empty()) words[0] = words[0].substr(words[0].find_last_of('/') + 1);
  if (!words.empty() && words[0] == "setpoint") words.erase(words.begin());
  Strings out;
  for (const FaceInfo& face : kFaces) {
    if (words.empty()) out.emplace_back(face.name);
    if (words.empty() || words[0] != face.name) continue;
    const std::string path = base::join(std::span(words).subspan(1), " ") + " ";
    for (const Command& command : commands()) {
      const std::string name = std::string(command.name) + " ";
      if (command.face != face.face) continue;
      if (path.starts_with(name)) return flag_words(command, words.back());
      if (path != " " && !name.starts_with(path)) continue;
      const std::size_t begin = path == " " ? 0 : path.size();
      const std::string word = name.substr(begin, name.find(' ', begin) - begin);
      if (out.empty() || out.back() != word) out.push_back(word);
    }
  }
  return out;
}

}  // namespace

Action completion_command(Flags& flags) {
  auto shell = std::make_shared<std::string>();
  flags.argument("shell", *shell, "bash, zsh or fish; words: what may follow $SETPOINT_WORDS");
  return [shell](const Console& console) -> Result<int> {
    std::string text;
    if (*shell == "words") {
      const char* typed = std::getenv("SETPOINT_WORDS");  // NOLINT(concurrency-mt-unsafe)
      text = base::join(words_after(typed == nullptr ? "" : typed), "\n") + "\n";
    } else if (*shell == "bash" || *shell == "zsh") {
      text = std::string(*shell == "zsh" ? kZsh : "") + std::string(kBash);
    } else if (*shell == "fish") {
      text = kFish;
    } else {
      const Strings known{"bash", "zsh", "fish", "words"};
      return Error::bad_input(base::unknown_name("shell", *shell, known));
    }
    SP_CHECK(console.print(text));
    return kDone;
  };
}

}  // namespace setpoint::cli
