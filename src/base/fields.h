// SPDX-License-Identifier: Apache-2.0
// The numbers of a struct as a table of Fields: name, place, range, unit and help stand once, and
// flags, help, JSON and checks all read them there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/json.h"
#include "setpoint/result.h"
#include "setpoint/units.h"

namespace setpoint::base {

struct Range {
  double least, most;
  bool whole = false;
  bool holds(double value) const;
  std::string expected() const;  // "expected a whole number from 1 to 1024"
};

// The whole text as one number, also as 1e6 or 4096.0; the error repeats the text.
Result<double> parse_number(const std::string& text, const Range& range);
// Text for an error: in quotes, short, without control characters.
std::string shown(std::string_view text);

template <class T>
struct Field {
  using Member = std::variant<int T::*, std::int64_t T::*, double T::*, std::optional<int> T::*,
                              std::optional<std::int64_t> T::*, std::optional<double> T::*,
                              std::optional<Ms> T::*>;
  std::string_view name;  // as a JSON key
  Member at;
  double least, most;
  std::string_view unit, help;
  std::string_view short_name = {};  // as a flag, where that is not the name with dashes

  std::string flag() const {
    std::string out(short_name.empty() ? name : short_name);
    for (char& c : out) c = c == '_' ? '-' : c;
    return out;
  }
  Range range() const {
    return {least, most, std::visit([](auto member) { return whole(member); }, at)};
  }
  std::optional<double> get(const T& from) const {
    return std::visit([&](auto member) { return number(from.*member); }, at);
  }
  void set(T& to, double value) const {
    std::visit([&](auto member) { assign(to.*member, value); }, at);
  }

 private:
  template <class V>
  static constexpr bool whole(V T::*) {
    if constexpr (requires { typename V::value_type; }) {
      return std::is_integral_v<typename V::value_type>;
    } else {
      return std::is_integral_v<V>;
    }
  }
  template <class V>
  static std::optional<double> number(const V& value) {
    if constexpr (requires { value.has_value(); }) {
      return value ? number(*value) : std::nullopt;
    } else if constexpr (std::is_arithmetic_v<V>) {
      return static_cast<double>(value);
    } else {
      return value.value();
    }
  }
  template <class V>
  static void assign(V& to, double value) {
    if constexpr (requires { typename V::value_type; }) {
      to = static_cast<typename V::value_type>(value);
    } else {
      to = static_cast<V>(value);
    }
  }
};

// Every number that is there lies in its range.
template <class T, std::size_t N>
Result<void> check(const std::array<Field<T>, N>& fields, const T& of) {
  for (const Field<T>& field : fields) {
    const auto value = field.get(of);
    if (!value || field.range().holds(*value)) continue;
    return Error::bad_input(std::string(field.name) + ": " + field.range().expected() + ", found " +
                            Json(*value).dump());
  }
  return {};
}

// Members of a JSON object into their places; absent ones keep their values.
template <class T, std::size_t N>
Result<void> read(const std::array<Field<T>, N>& fields, const JsonView& json, T& to) {
  for (const Field<T>& field : fields) {
    const auto member = json.find(field.name);
    if (!member) continue;
    const Range range = field.range();
    if (range.whole) SP_CHECK(member->integer(std::int64_t(range.least), std::int64_t(range.most)));
    SP_TRY(const double value, member->number(range.least, range.most));
    field.set(to, value);
  }
  return {};
}

}  // namespace setpoint::base
