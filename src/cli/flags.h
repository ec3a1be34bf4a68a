// SPDX-License-Identifier: Apache-2.0
// The flags of one command: declared once, parsed into the variables they are declared for; help
// and completion are made from the same list. What is wrong is one line that names the flag and
// what would be right.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "setpoint/result.h"

namespace setpoint::cli {

using Strings = std::vector<std::string>;

struct Flag {
  std::string name;  // "--mode"; without dashes an argument
  std::string unit;  // stands for the value in the help; empty: the flag takes none
  std::string help;
  std::function<Result<void>(const std::string&)> set;
  std::string fallback;  // the default, as the help shows it
  std::string group;     // heading in the help
  Strings values;        // closed list of values
  bool repeats = false;  // may be given more than once
  char letter = 0;       // 'q' for -q
  int given = 0;
};

class Flags {
 public:
  // Flags declared from here on stand under this heading in the help.
  void group(const std::string& heading) { heading_ = heading; }

  // Variables keep their values when the flag is not given. Every field of a table of numbers is a
  // flag, those of T's own names excepted.
  template <class T, std::size_t N>
  void numbers(const std::array<base::Field<T>, N>& fields, T& to) {
    for (const base::Field<T>& field : fields) {
      const double value = field.get(to).value_or(0);
      Flag& flag = add("--" + field.flag(), std::string(field.unit), std::string(field.help));
      if (value != 0) flag.fallback = fmt::format("{}", value);
      flag.set = [&to, &field](const std::string& text) -> Result<void> {
        SP_TRY(const double number, base::parse_number(text, field.range()));
        field.set(to, number);
        return {};
      };
    }
  }
  void text(const std::string& name, std::string& to, const std::string& unit,
            const std::string& help);
  void texts(const std::string& name, Strings& to, const std::string& unit,
             const std::string& help);
  // One of `values`; a wrong one is answered with all of them.
  void choice(const std::string& name, std::string& to, Strings values, const std::string& help);
  void toggle(const std::string& name, bool& to, const std::string& help, char letter = 0);
  void counter(const std::string& name, int& to, const std::string& help, char letter);
  // Arguments without a dash, in order; `arguments` takes all that are left (at least one).
  void argument(const std::string& name, std::string& to, const std::string& help);
  void arguments(const std::string& name, Strings& to, const std::string& help);
  void require(const std::string& name) { required_.push_back(name); }
  // When this flag is given, none is required.
  void instead_of_required(const std::string& name) { alternative_ = name; }

  Result<void> parse(Strings words);
  bool given(const std::string& name) const;
  std::string help(const std::string& command, std::string_view summary,
                   std::string_view example) const;
  const std::vector<Flag>& all() const { return flags_; }

 private:
  Flag& add(const std::string& name, const std::string& unit, const std::string& help);
  Result<void> take(Flag& flag, const Strings& values);
  Error leftover(const std::string& word) const;
  Result<void> check_required() const;

  std::vector<Flag> flags_;
  std::string heading_ = "Flags", alternative_;
  Strings required_;
};

}  // namespace setpoint::cli
