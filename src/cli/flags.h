// SPDX-License-Identifier: Apache-2.0
// The flags of one command: declared once, parsed into the variables they are declared for. Every
// number has a range; what is wrong is one line that names the flag and what would be right.
// A thin face over CLI11, which only flags.cc sees.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "setpoint/result.h"

namespace setpoint::cli {

struct Integers {
  std::int64_t least, most;
};
struct Numbers {
  double least, most;
};

class Flags {
 public:
  Flags(const std::string& command, const std::string& summary, const std::string& example);
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;
  ~Flags();

  // Flags declared from here on stand under this heading in the help.
  void group(const std::string& heading);

  // Value flags; `to` keeps its value when the flag is not given. T: a number type, an optional of
  // one, or a type made from one (Ms). `unit` stands for the value in the help.
  template <class T>
  void integer(const std::string& name, T& to, Integers range, const std::string& unit,
               const std::string& help) {
    add_integer(
        name, [&to](std::int64_t v) { assign(to, v); }, range, unit, shown(to), help);
  }
  template <class T>
  void number(const std::string& name, T& to, Numbers range, const std::string& unit,
              const std::string& help) {
    add_number(
        name, [&to](double v) { assign(to, v); }, range, unit, shown(to), help);
  }
  void text(const std::string& name, std::string& to, const std::string& unit,
            const std::string& help);
  // May be given more than once.
  void texts(const std::string& name, std::vector<std::string>& to, const std::string& unit,
             const std::string& help);
  // One of `values`; a wrong one is answered with the nearest.
  void choice(const std::string& name, std::string& to, std::vector<std::string> values,
              const std::string& help);
  void toggle(const std::string& name, bool& to, const std::string& help);  // "-q,--quiet"
  void counter(const std::string& name, int& to, const std::string& help);  // -v -v
  // Arguments without a dash, in order; `arguments` takes all that are left (at least one).
  void argument(const std::string& name, std::string& to, const std::string& help);
  void arguments(const std::string& name, std::vector<std::string>& to, const std::string& help);
  void help_flag();                       // -h, --help
  void require(const std::string& name);  // the flag must be given
  // When this flag is given, none is required.
  void instead_of_required(const std::string& name);

  enum class Parsed { run, help };
  Result<Parsed> parse(std::vector<std::string> args);
  bool given(const std::string& name) const;
  std::string help() const;
  struct Described {
    std::string name, help;
    bool takes_value = false;
    std::vector<std::string> values;
  };
  std::vector<Described> describe() const;  // every flag, for shell completion

 private:
  struct Impl;
  template <class T, class V>
  static void assign(T& to, V value) {
    if constexpr (requires { typename T::value_type; }) {
      to = typename T::value_type(value);  // an optional
    } else {
      to = static_cast<T>(value);
    }
  }
  template <class T>
  static std::string shown(const T& to) {
    if constexpr (std::is_integral_v<T>) return std::to_string(to);
    if constexpr (std::is_floating_point_v<T>) return shown_number(to);
    return "";
  }
  static std::string shown_number(double value);
  void add_integer(const std::string& name, std::function<void(std::int64_t)> set, Integers range,
                   const std::string& unit, const std::string& fallback, const std::string& help);
  void add_number(const std::string& name, std::function<void(double)> set, Numbers range,
                  const std::string& unit, const std::string& fallback, const std::string& help);
  std::unique_ptr<Impl> impl_;
};

// The whole text as one number; the error says the range and repeats the text.
Result<std::int64_t> parse_integer(const std::string& text, Integers range);
Result<double> parse_number(const std::string& text, Numbers range);

}  // namespace setpoint::cli
