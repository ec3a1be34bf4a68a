// SPDX-License-Identifier: Apache-2.0
// The file operations of a log that must survive a crash, as an interface, so that a test can fail
// or die at each of them. What append() wrote may be lost until sync() has returned; what replace()
// wrote is either wholly there or, after a power cut, what was there before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "setpoint/result.h"

namespace setpoint::base {

class Disk {
 public:
  using Path = std::filesystem::path;
  // Released when it goes. Held by one opener of the path at a time, in whatever process.
  using Lock = std::shared_ptr<void>;

  virtual ~Disk() = default;
  virtual bool exists(const Path& file) const = 0;
  virtual Result<std::string> read(const Path& file) const = 0;
  virtual Result<void> append(const Path& file, std::string_view bytes) = 0;  // creates it
  virtual Result<void> sync(const Path& file) = 0;
  virtual Result<void> truncate(const Path& file, std::uint64_t bytes) = 0;
  virtual Result<void> replace(const Path& file, std::string_view bytes) = 0;
  // Null when somebody else holds it.
  virtual Result<Lock> lock(const Path& file) = 0;
};

// The machine's files (POSIX).
class RealDisk final : public Disk {
 public:
  bool exists(const Path& file) const override;
  Result<std::string> read(const Path& file) const override;
  Result<void> append(const Path& file, std::string_view bytes) override;
  Result<void> sync(const Path& file) override;
  Result<void> truncate(const Path& file, std::uint64_t bytes) override;
  Result<void> replace(const Path& file, std::string_view bytes) override;
  Result<Lock> lock(const Path& file) override;
};

}  // namespace setpoint::base
