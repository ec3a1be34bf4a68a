// SPDX-License-Identifier: Apache-2.0
// A disk in memory that can fail at any write and lose what was not synced, as a power cut does.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>

#include "base/disk.h"

namespace setpoint::test {

class MemoryDisk final : public base::Disk {
 public:
  struct Content {
    std::string bytes;
    std::size_t synced = 0;
  };

  bool exists(const Path& file) const override { return files.contains(file.string()); }
  Result<std::string> read(const Path& file) const override {
    if (!exists(file)) return Error::bad_input(file.string() + ": cannot read: no such file");
    return files.at(file.string()).bytes;
  }
  Result<void> append(const Path& file, std::string_view bytes) override {
    Content& content = files[file.string()];
    if (dies()) {  // half of it reached the file
      content.bytes += bytes.substr(0, bytes.size() / 2);
      return failure(file);
    }
    content.bytes += bytes;
    return {};
  }
  Result<void> sync(const Path& file) override {
    if (dies()) return failure(file);
    Content& content = files[file.string()];
    content.synced = content.bytes.size();
    return {};
  }
  Result<void> truncate(const Path& file, std::uint64_t bytes) override {
    if (dies()) return failure(file);
    files[file.string()].bytes.resize(bytes);
    return sync(file);
  }
  Result<void> replace(const Path& file, std::string_view bytes) override {
    if (dies()) return failure(file);
    files[file.string()] = {std::string(bytes), bytes.size()};
    return {};
  }
  Result<Lock> lock(const Path& file) override {
    std::weak_ptr<void>& holder = locks_[file.string()];
    if (!holder.expired()) return Lock();
    Lock made = std::make_shared<int>(0);
    holder = made;
    return made;
  }

  // A power cut: of what was not synced the first `kept` bytes of each file survive.
  void crash(std::size_t kept) {
    for (auto& [name, content] : files) {
      content.bytes.resize(std::min(content.bytes.size(), content.synced + kept));
    }
  }

  std::map<std::string, Content> files;
  int writes = 0;                // writing calls so far
  std::optional<int> die_after;  // the call after that many fails, and all after it

 private:
  bool dies() { return writes++ >= die_after.value_or(INT32_MAX); }
  static Error failure(const Path& file) {
    return Error::environment(file.string() + ": cannot write: the disk died");
  }
  std::map<std::string, std::weak_ptr<void>> locks_;
};

}  // namespace setpoint::test
