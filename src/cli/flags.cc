// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "report/text.h"

namespace setpoint::cli {
namespace {

constexpr int kNameColumn = 34, kColumns = 100;  // of the help
constexpr int kMostArguments = 10'000;

bool is_argument(const Flag& flag) { return !flag.name.starts_with('-'); }

std::string help_line(const Flag& flag) {
  std::string left = flag.letter != 0 ? fmt::format("  -{}, {}", flag.letter, flag.name)
                                      : fmt::format("  {}", flag.name);
  if (!flag.unit.empty() && !is_argument(flag)) left += " " + flag.unit;
  if (!flag.fallback.empty()) left += fmt::format(" [{}]", flag.fallback);
  const bool apart = left.size() + 1 >= kNameColumn;
  const std::string help = report::wrapped(flag.help, kColumns, kNameColumn);
  return apart ? left + "\n" + help : left + help.substr(left.size());
}

}  // namespace

Flag& Flags::add(const std::string& name, const std::string& unit, const std::string& help) {
  Flag flag;
  flag.name = name;
  flag.unit = unit;
  flag.help = help;
  flag.group = is_argument(flag) ? "Arguments" : heading_;
  return flags_.emplace_back(std::move(flag));
}

void Flags::text(const std::string& name, std::string& to, const std::string& unit,
                 const std::string& help) {
  Flag& flag = add(name, unit, help);
  flag.fallback = to;
  flag.set = [&to](const std::string& text) {
    to = text;
    return Result<void>();
  };
}

void Flags::texts(const std::string& name, Strings& to, const std::string& unit,
                  const std::string& help) {
  Flag& flag = add(name, unit, help);
  flag.repeats = true;
  flag.set = [&to](const std::string& text) {
    to.push_back(text);
    return Result<void>();
  };
}

void Flags::choice(const std::string& name, std::string& to, Strings values,
                   const std::string& help) {
  Flag& flag = add(name, base::join(values, "|"), help);
  flag.fallback = to;
  flag.values = values;
  flag.set = [&to, values = std::move(values)](const std::string& text) -> Result<void> {
    if (std::find(values.begin(), values.end(), text) == values.end()) {
      return Error::bad_input(
          fmt::format("expected {}, found {}", base::join(values), base::shown(text)));
    }
    to = text;
    return {};
  };
}

void Flags::toggle(const std::string& name, bool& to, const std::string& help, char letter) {
  Flag& flag = add(name, "", help);
  flag.letter = letter;
  flag.repeats = true;
  flag.set = [&to](const std::string&) {
    to = true;
    return Result<void>();
  };
}

void Flags::counter(const std::string& name, int& to, const std::string& help, char letter) {
  Flag& flag = add(name, "", help);
  flag.letter = letter;
  flag.repeats = true;
  flag.set = [&to](const std::string&) {
    ++to;
    return Result<void>();
  };
}

void Flags::argument(const std::string& name, std::string& to, const std::string& help) {
  text(name, to, "VALUE", help);
  require(name);
}

void Flags::arguments(const std::string& name, Strings& to, const std::string& help) {
  texts(name, to, "VALUE", help);
  require(name);
}

bool Flags::given(const std::string& name) const {
  return std::any_of(flags_.begin(), flags_.end(),
                     [&](const Flag& flag) { return flag.name == name && flag.given > 0; });
}

Result<void> Flags::check_required() const {
  if (!alternative_.empty() && given(alternative_)) return {};
  for (const std::string& name : required_) {
    if (!given(name)) return Error::bad_input(name + " is required (see --help)");
  }
  return {};
}

// What CLI11 left over: a word that no flag takes.
Error Flags::leftover(const std::string& word) const {
  if (!word.starts_with('-') || word == "-") {
    return Error::bad_input("unexpected argument " + base::shown(word));
  }
  Strings known;
  for (const Flag& flag : flags_) known.push_back(flag.name);
  return Error::bad_input(base::unknown_name("flag", base::split_pair(word).first, known));
}

Result<void> Flags::take(Flag& flag, const Strings& values) {
  flag.given = static_cast<int>(values.size());
  if (flag.given > 1 && !flag.repeats) {
    return Error::bad_input(fmt::format("{}: given more than once", flag.name));
  }
  for (const std::string& value : values) {
    const Result<void> set = flag.set(value);
    if (!set) return set.error().at(flag.name);
  }
  return {};
}

Result<void> Flags::parse(Strings words) {
  CLI::App app;
  app.set_help_flag();  // --help is one of ours
  app.allow_extras();
  std::vector<CLI::Option*> options;
  std::vector<Strings> values(flags_.size());
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    const Flag& flag = flags_[i];
    const std::string names =
        flag.letter == 0 ? flag.name : fmt::format("-{},{}", flag.letter, flag.name);
    if (flag.unit.empty()) {
      options.push_back(app.add_flag(names));
      continue;
    }
    const bool many = is_argument(flag) && flag.repeats;
    options.push_back(app.add_option(names, values[i])->expected(1, many ? kMostArguments : 1));
    options.back()->allow_extra_args(many);
    options.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  std::string failure;
  try {
    app.parse(std::move(words));
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string text = e.what();  // "--isl: 1 required TOKENS missing"
    failure = text.substr(0, text.find(':')) + ": a value must follow";
  } catch (const CLI::Error& e) {
    failure = e.what();
    std::replace(failure.begin(), failure.end(), '\n', ' ');
  }
  // A wrong flag explains more than the value it leaves missing.
  const std::vector<std::string> left = app.remaining();
  if (!left.empty()) return leftover(left.front());
  if (!failure.empty()) return Error::bad_input(failure);
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    if (flags_[i].unit.empty()) values[i].assign(options[i]->count(), "");
    SP_CHECK(take(flags_[i], values[i]));
  }
  return given("--help") ? Result<void>() : check_required();
}

std::string Flags::help(const std::string& command, std::string_view summary,
                        std::string_view example) const {
  std::string arguments, text, group;
  for (const Flag& flag : flags_) {
    if (is_argument(flag)) arguments += fmt::format(" {}{}", flag.name, flag.repeats ? "..." : "");
  }
  text = fmt::format("{}\n\nUsage: {} [FLAGS]{}\n", summary, command, arguments);
  for (const Flag& flag : flags_) {
    if (flag.group != group) text += fmt::format("\n{}:\n", flag.group);
    group = flag.group;
    text += help_line(flag);
  }
  return text + fmt::format("\nExample:\n  {}\n", example);
}

}  // namespace setpoint::cli
