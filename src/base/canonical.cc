// SPDX-License-Identifier: Apache-2.0
#include "base/canonical.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace setpoint::base {
namespace {

constexpr double kExactDoubles = 9007199254740992.0;  // 2^53: whole numbers up to here are exact

Result<void> write(const Json& json, std::string& out);

Result<void> write_number(double number, std::string& out) {
  if (!std::isfinite(number)) return Error::bad_input("a number is infinite or NaN");
  std::array<char, 32> text{};
  const bool whole = number == std::floor(number) && std::fabs(number) <= kExactDoubles;
  const auto end = whole
                       ? std::to_chars(text.data(), text.data() + text.size(), std::int64_t(number))
                       : std::to_chars(text.data(), text.data() + text.size(), number);
  out.append(text.data(), end.ptr);
  return {};
}

Result<void> write_text(const std::string& text, std::string& out) {
  try {
    out += Json(text).dump();
  } catch (const Json::type_error&) {
    return Error::bad_input("a text is not UTF-8");
  }
  return {};
}

Result<void> write_object(const Json& json, std::string& out) {
  std::vector<Json::const_iterator> members;
  for (auto it = json.begin(); it != json.end(); ++it) members.push_back(it);
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return a.key() < b.key(); });
  char before = '{';
  for (const auto& member : members) {
    out += before;
    before = ',';
    SP_CHECK(write_text(member.key(), out));
    out += ':';
    SP_CHECK(write(*member, out));
  }
  out += members.empty() ? "{}" : "}";
  return {};
}

Result<void> write_list(const Json& json, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (i > 0) out += ',';
    SP_CHECK(write(json[i], out));
  }
  out += ']';
  return {};
}

Result<void> write(const Json& json, std::string& out) {
  if (json.is_object()) return write_object(json, out);
  if (json.is_array()) return write_list(json, out);
  if (json.is_string()) return write_text(json.get_ref<const std::string&>(), out);
  if (json.is_number_float()) return write_number(json.get<double>(), out);
  out += json.dump();  // null, true, false, whole numbers
  return {};
}

}  // namespace

Result<std::string> canonical_json(const Json& json) {
  std::string out;
  SP_CHECK(write(json, out));
  return out;
}

}  // namespace setpoint::base
