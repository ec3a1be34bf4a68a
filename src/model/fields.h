// SPDX-License-Identifier: Apache-2.0
// Reading a config.json by field: each fact has the names it goes by in published configs, then the
// default that its architecture's own configuration class would fill in (perfdb/families.json).
// Wrong types and numbers out of bounds are remembered (the first one), missing facts are collected
// so that all of them can be named at once.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "setpoint/result.h"

namespace setpoint::model {

using Names = std::initializer_list<std::string_view>;

class Fields {
 public:
  // Looks in `text` (the language model's part), then `top` (the whole file), then `defaults`.
  Fields(base::JsonView text, base::JsonView top, std::optional<base::JsonView> defaults)
      : text_(std::move(text)), top_(std::move(top)), defaults_(std::move(defaults)) {}

  std::optional<base::JsonView> find(Names names) const;
  bool has(Names names) const { return find(names).has_value(); }

  // What is missing or wrong reads as `otherwise` (1, an empty list); status() then reports it.
  std::int64_t need(Names names, std::int64_t most);
  std::int64_t number(Names names, std::int64_t least, std::int64_t most, std::int64_t otherwise);
  bool flag(Names names, bool otherwise);
  std::vector<std::int64_t> numbers(Names names, std::int64_t least, std::int64_t most);
  std::vector<std::string> texts(Names names);

  void fail(Error error);
  Result<void> status() const;

 private:
  template <class T, class Read>
  T read(Names names, T otherwise, Read read);
  template <class T, class Read>
  std::vector<T> list(Names names, Read read);

  base::JsonView text_, top_;
  std::optional<base::JsonView> defaults_;
  std::vector<std::string> missing_;
  std::optional<Error> error_;
};

}  // namespace setpoint::model
