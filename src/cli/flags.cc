// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/text.h"

namespace setpoint::cli {
namespace {

constexpr int kNameColumn = 34, kColumns = 100;  // of the help

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

// By its name; "-q" by its letter.
Flag* Flags::find(const std::string& name) {
  const bool by_letter = name.size() == 2 && name[0] == '-';
  const auto it = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) {
    return by_letter ? flag.letter == name[1] : flag.name == name;
  });
  return it == flags_.end() ? nullptr : &*it;
}

bool Flags::given(const std::string& name) const {
  return std::any_of(flags_.begin(), flags_.end(),
                     [&](const Flag& flag) { return flag.name == name && flag.given > 0; });
}

Result<void> Flags::take(Flag& flag, const std::string& value) {
  if (flag.given++ > 0 && !flag.repeats) {
    return Error::bad_input(fmt::format("{}: given more than once", flag.name));
  }
  const Result<void> set = flag.set(value);
  return set ? set : set.error().at(flag.name);
}

Result<void> Flags::take_argument(const std::string& word) {
  for (Flag& flag : flags_) {
    if (is_argument(flag) && (flag.given == 0 || flag.repeats)) return take(flag, word);
  }
  return Error::bad_input("unexpected argument " + base::shown(word));
}

Result<void> Flags::check_required() const {
  if (!alternative_.empty() && given(alternative_)) return {};
  for (const std::string& name : required_) {
    if (!given(name)) return Error::bad_input(name + " is required (see --help)");
  }
  return {};
}

Result<void> Flags::parse(const Strings& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto [name, value] = base::split_pair(words[i]);
    if (!name.starts_with('-') || name == "-") {
      SP_CHECK(take_argument(words[i]));
      continue;
    }
    Flag* flag = find(name);
    if (flag == nullptr) {
      Strings known;
      for (const Flag& f : flags_) known.push_back(f.name);
      return Error::bad_input(base::unknown_name("flag", name, known));
    }
    if (flag->unit.empty()) {
      if (value) return Error::bad_input(name + ": takes no value");
      SP_CHECK(take(*flag, ""));
    } else if (value) {
      SP_CHECK(take(*flag, *value));
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("--")) {
      SP_CHECK(take(*flag, words[++i]));
    } else {
      return Error::bad_input(name + ": a value must follow");
    }
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
