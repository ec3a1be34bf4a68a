// SPDX-License-Identifier: Apache-2.0
#include "model/fields.h"

#include <fmt/format.h>

#include "base/text.h"

namespace setpoint::model {

std::optional<base::JsonView> Fields::find(Names names) const {
  for (const base::JsonView* place : {&text_, &top_}) {
    for (const std::string_view name : names) {
      if (auto found = place->find(name)) return found;
    }
  }
  for (const std::string_view name : names) {
    if (!defaults_) break;
    if (auto found = defaults_->find(name)) return found;
  }
  return std::nullopt;
}

std::int64_t Fields::need(Names names, std::int64_t most) {
  if (!has(names)) {
    missing_.emplace_back(*names.begin());
    return 1;
  }
  return number(names, 1, most, 1);
}

std::int64_t Fields::number(Names names, std::int64_t least, std::int64_t most,
                            std::int64_t otherwise) {
  const auto found = find(names);
  if (!found) return otherwise;
  const auto value = found->integer(least, most);
  if (value) return *value;
  fail(value.error());
  return least;
}

bool Fields::flag(Names names, bool otherwise) {
  const auto found = find(names);
  if (!found) return otherwise;
  const auto value = found->boolean();
  if (value) return *value;
  fail(value.error());
  return otherwise;
}

std::string Fields::text(Names names) {
  const auto found = find(names);
  if (!found) return "";
  const auto value = found->string();
  if (value) return *value;
  fail(value.error());
  return "";
}

std::vector<std::int64_t> Fields::numbers(Names names, std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> out;
  const auto found = find(names);
  if (!found) return out;
  const auto items = found->items();
  if (!items) {
    fail(items.error());
    return out;
  }
  for (const base::JsonView& item : *items) {
    const auto value = item.integer(least, most);
    if (!value) {
      fail(value.error());
      return {};
    }
    out.push_back(*value);
  }
  return out;
}

std::vector<std::string> Fields::texts(Names names) {
  std::vector<std::string> out;
  const auto found = find(names);
  if (!found) return out;
  const auto items = found->items();
  if (!items) {
    fail(items.error());
    return out;
  }
  for (const base::JsonView& item : *items) {
    const auto value = item.string();
    if (!value) {
      fail(value.error());
      return {};
    }
    out.push_back(*value);
  }
  return out;
}

void Fields::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

Result<void> Fields::status() const {
  if (error_) return *error_;
  if (!missing_.empty()) {
    return Error::bad_input(fmt::format("{}: missing: {}", top_.path(), base::join(missing_)));
  }
  return {};
}

}  // namespace setpoint::model
