// SPDX-License-Identifier: Apache-2.0
// The most recently used values by key: a cache that cannot grow. Whoever still uses a value that
// went keeps it alive.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace setpoint::base {

template <class T>
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}

  std::shared_ptr<T> find(const std::string& key) {  // null: not there
    const auto it = std::find_if(values_.begin(), values_.end(),
                                 [&](const auto& value) { return value.first == key; });
    if (it == values_.end()) return nullptr;
    std::rotate(values_.begin(), it, it + 1);
    return values_.front().second;
  }
  std::shared_ptr<T> keep(std::string key, std::shared_ptr<T> value) {
    if (values_.size() == most_) values_.pop_back();
    return values_.emplace(values_.begin(), std::move(key), std::move(value))->second;
  }

 private:
  std::size_t most_;
  std::vector<std::pair<std::string, std::shared_ptr<T>>> values_;  // newest first
};

}  // namespace setpoint::base
