// SPDX-License-Identifier: Apache-2.0
// JSON whose errors name the place: a JsonView is a value plus its path ("layers[3].heads").
// Parsing is bounded in size and depth; numbers are checked for range before use.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "setpoint/result.h"

namespace setpoint::base {

using Json = nlohmann::ordered_json;

// Rejects trailing text, nesting deeper than 200 and text larger than 64 MiB. `what` names the
// document in errors.
Result<Json> parse_json(std::string_view text, const std::string& what);

// As text; bytes that are not UTF-8 (of a path, of an input line that is quoted) become U+FFFD.
// `indent` below 0: in one line.
std::string json_text(const Json& json, int indent = -1);

class JsonView {
 public:
  JsonView(const Json& value, std::string path) : value_(&value), path_(std::move(path)) {}
  const Json& json() const { return *value_; }
  const std::string& path() const { return path_; }
  bool is_object() const { return value_->is_object(); }
  bool is_array() const { return value_->is_array(); }

  // The member, or nothing when it is absent or null.
  std::optional<JsonView> find(std::string_view key) const;
  Result<JsonView> at(std::string_view key) const;  // absent or null is an error
  Result<std::vector<JsonView>> items() const;      // of an array
  std::vector<std::string> keys() const;            // of an object, in order; else empty

  Result<std::int64_t> integer(std::int64_t least, std::int64_t most) const;
  Result<double> number(double least, double most) const;  // finite
  Result<std::string> string() const;
  Result<bool> boolean() const;

  // Any key outside `known` is an error that names the nearest known one.
  Result<void> only(std::span<const std::string> known) const;
  Error error(const std::string& text) const { return Error::bad_input(path_ + ": " + text); }

 private:
  const Json* value_;
  std::string path_;
};

}  // namespace setpoint::base
