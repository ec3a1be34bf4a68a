// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace setpoint::base {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr int kMostDepth = 200;

// The parser recurses on destruction and copy, so depth is checked before it builds anything.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMostDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

std::string shown(const Json& value) {
  constexpr std::size_t kLongestShown = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongestShown) text = text.substr(0, kLongestShown) + "...";
  return text;
}

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& what) {
  if (text.size() > kMostBytes) {
    return Error::bad_input(fmt::format("{}: larger than {} bytes", what, kMostBytes));
  }
  if (too_deep(text)) {
    return Error::bad_input(fmt::format("{}: nested deeper than {} levels", what, kMostDepth));
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    std::string reason = e.what();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    const auto colon = reason.find("parse error");
    return Error::bad_input(fmt::format(
        "{}: not JSON: {}", what, colon == std::string::npos ? reason : reason.substr(colon)));
  } catch (const Json::exception& e) {  // numbers out of range
    return Error::bad_input(fmt::format("{}: not JSON: {}", what, e.what()));
  }
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  if (!value_->is_object()) return std::nullopt;
  const auto it = value_->find(std::string(key));
  if (it == value_->end() || it->is_null()) return std::nullopt;
  return JsonView(*it, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

Result<JsonView> JsonView::at(std::string_view key) const {
  if (!value_->is_object()) return error("expected an object, found " + shown(*value_));
  if (auto found = find(key)) return *found;
  return error(fmt::format("key \"{}\" is missing", key));
}

Result<std::vector<JsonView>> JsonView::items() const {
  if (!value_->is_array()) return error("expected a list, found " + shown(*value_));
  std::vector<JsonView> out;
  for (std::size_t i = 0; i < value_->size(); ++i) {
    out.emplace_back((*value_)[i], fmt::format("{}[{}]", path_, i));
  }
  return out;
}

std::vector<std::string> JsonView::keys() const {
  std::vector<std::string> out;
  if (value_->is_object()) {
    for (const auto& [key, unused] : value_->items()) out.push_back(key);
  }
  return out;
}

Result<std::int64_t> JsonView::integer(std::int64_t least, std::int64_t most) const {
  const std::string wanted =
      fmt::format("expected a whole number from {} to {}, found ", least, most);
  constexpr double kExactDoubles = 9007199254740992.0;  // 2^53
  std::optional<std::int64_t> found;
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() <= std::uint64_t(INT64_MAX)) {
    found = value_->get<std::int64_t>();
  } else if (value_->is_number_integer() && !value_->is_number_unsigned()) {
    found = value_->get<std::int64_t>();
  } else if (value_->is_number_float()) {
    const double number = value_->get<double>();
    if (std::fabs(number) <= kExactDoubles && number == std::floor(number)) {
      found = static_cast<std::int64_t>(number);
    }
  }
  if (found && *found >= least && *found <= most) return *found;
  return error(wanted + shown(*value_));
}

Result<double> JsonView::number(double least, double most) const {
  if (value_->is_number()) {
    const double number = value_->get<double>();
    if (std::isfinite(number) && number >= least && number <= most) return number;
  }
  return error(
      fmt::format("expected a number from {} to {}, found {}", least, most, shown(*value_)));
}

Result<std::string> JsonView::string() const {
  if (!value_->is_string()) return error("expected text, found " + shown(*value_));
  return value_->get<std::string>();
}

Result<bool> JsonView::boolean() const {
  if (!value_->is_boolean()) return error("expected true or false, found " + shown(*value_));
  return value_->get<bool>();
}

Result<void> JsonView::only(std::span<const std::string> known) const {
  if (!value_->is_object()) return error("expected an object, found " + shown(*value_));
  for (const auto& [key, unused] : value_->items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return error(unknown_name("key", key, known));
    }
  }
  return {};
}

}  // namespace setpoint::base
