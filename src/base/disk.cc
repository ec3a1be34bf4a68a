// SPDX-License-Identifier: Apache-2.0
#include "base/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"

namespace setpoint::base {
namespace {

Error failed(const char* what, const Disk::Path& file) {
  return Error::environment(
      fmt::format("{}: cannot {}: {}", file.string(), what, std::strerror(errno)));
}

// An open file that closes itself.
class File {
 public:
  File(const Disk::Path& file, int flags) : fd_(::open(file.c_str(), flags | O_CLOEXEC, 0644)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (is_open()) ::close(fd_);
  }
  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  bool sync() const { return ::fsync(fd_) == 0; }

 private:
  int fd_;
};

// A new or renamed file is safe once its folder is.
Result<void> sync_folder(const Disk::Path& file) {
  const Disk::Path folder = file.has_parent_path() ? file.parent_path() : ".";
  const File opened(folder, O_RDONLY | O_DIRECTORY);
  if (!opened.is_open() || !opened.sync()) return failed("sync the folder", folder);
  return {};
}

}  // namespace

bool RealDisk::exists(const Path& file) const {
  std::error_code ec;
  return std::filesystem::exists(file, ec);
}

Result<std::string> RealDisk::read(const Path& file) const { return read_file(file); }

Result<void> RealDisk::append(const Path& file, std::string_view bytes) {
  const bool made = !exists(file);
  const File opened(file, O_WRONLY | O_APPEND | O_CREAT);
  if (!opened.is_open() || !opened.write(bytes)) return failed("append", file);
  return made ? sync_folder(file) : Result<void>();
}

Result<void> RealDisk::sync(const Path& file) {
  const File opened(file, O_WRONLY);
  if (!opened.is_open() || !opened.sync()) return failed("sync", file);
  return {};
}

Result<void> RealDisk::truncate(const Path& file, std::uint64_t bytes) {
  if (::truncate(file.c_str(), static_cast<off_t>(bytes)) != 0) return failed("shorten", file);
  return sync(file);
}

Result<void> RealDisk::replace(const Path& file, std::string_view bytes) {
  const Path fresh(file.string() + ".new");
  {
    const File opened(fresh, O_WRONLY | O_CREAT | O_TRUNC);
    if (!opened.is_open() || !opened.write(bytes) || !opened.sync()) return failed("write", fresh);
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) return failed("replace", file);
  return {};
}

Result<Disk::Lock> RealDisk::lock(const Path& file) {
  auto held = std::make_shared<File>(file, O_RDWR | O_CREAT);
  if (!held->is_open()) return failed("open", file);
  if (::flock(held->fd(), LOCK_EX | LOCK_NB) == 0) return Lock(std::move(held));
  if (errno == EWOULDBLOCK) return Lock();
  return failed("lock", file);
}

}  // namespace setpoint::base
