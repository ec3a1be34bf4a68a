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

template <class T, class Read>
T Fields::read(Names names, T otherwise, Read read) {
  const auto found = find(names);
  if (!found) return otherwise;
  auto value = read(*found);
  if (value) return *value;
  fail(value.error());
  return otherwise;
}

template <class T, class Read>
std::vector<T> Fields::list(Names names, Read read) {
  return this->read(names, std::vector<T>{},
                    [&](const base::JsonView& found) -> Result<std::vector<T>> {
                      SP_TRY(const auto items, found.items());
                      std::vector<T> out;
                      for (const base::JsonView& item : items) {
                        SP_TRY(out.emplace_back(), read(item));
                      }
                      return out;
                    });
}

std::int64_t Fields::need(Names names, std::int64_t most) {
  if (!has(names)) missing_.emplace_back(*names.begin());
  return number(names, 1, most, 1);
}

std::int64_t Fields::number(Names names, std::int64_t least, std::int64_t most,
                            std::int64_t otherwise) {
  return read(names, otherwise, [&](const auto& value) { return value.integer(least, most); });
}

bool Fields::flag(Names names, bool otherwise) {
  return read(names, otherwise, [](const auto& value) { return value.boolean(); });
}

std::vector<std::int64_t> Fields::numbers(Names names, std::int64_t least, std::int64_t most) {
  return list<std::int64_t>(names, [&](const auto& item) { return item.integer(least, most); });
}

std::vector<std::string> Fields::texts(Names names) {
  return list<std::string>(names, [](const auto& item) { return item.string(); });
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
