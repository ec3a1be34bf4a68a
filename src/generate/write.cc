// SPDX-License-Identifier: Apache-2.0
// Everything is written into a folder beside its place first; only then files are renamed, each old
// one kept aside until all new ones are there.
#include "generate/write.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/file.h"

namespace setpoint::generate {
namespace {

namespace fs = std::filesystem;

// Removes a folder of ours whatever happens.
struct Scratch {
  fs::path path;
  ~Scratch() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

Error failed(const fs::path& path, const std::error_code& why) {
  return Error::environment(fmt::format("{}: {}", path.string(), why.message()));
}

Result<void> make_folder(const fs::path& path) {
  std::error_code ec;
  fs::create_directories(path, ec);
  if (ec) return failed(path, ec);
  return {};
}

Result<void> stage(const fs::path& folder, const std::vector<File>& files) {
  for (const File& file : files) {
    const fs::path path = folder / file.path;
    SP_CHECK(make_folder(path.parent_path()));
    SP_CHECK(base::write_file_atomically(path, file.text));
    if (!file.executable) continue;
    std::error_code ec;
    constexpr auto kRun = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    fs::permissions(path, kRun, fs::perm_options::add, ec);
    if (ec) return failed(path, ec);
  }
  return {};
}

// Renames that are taken back unless they were all made.
class Moves {
 public:
  ~Moves() {
    std::error_code ignored;
    for (auto move = made_.rbegin(); move != made_.rend(); ++move) {
      fs::rename(move->second, move->first, ignored);
      fs::remove(move->second.parent_path(), ignored);  // only when it is empty
    }
  }
  Result<void> rename(const fs::path& from, const fs::path& to) {
    SP_CHECK(make_folder(to.parent_path()));
    std::error_code ec;
    fs::rename(from, to, ec);
    if (ec) return failed(to, ec);
    made_.emplace_back(from, to);
    return {};
  }
  void keep() { made_.clear(); }

 private:
  std::vector<std::pair<fs::path, fs::path>> made_;
};

bool there(const fs::path& path) {
  std::error_code ec;
  return fs::exists(fs::symlink_status(path, ec));
}

// The nearest folder above that exists: on the same file system as what will be made below it.
fs::path existing(fs::path folder) {
  while (!there(folder) && folder.has_parent_path() && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

Result<void> may_write(const fs::path& folder, const std::vector<File>& files, bool force) {
  std::error_code ec;
  if (there(folder) && !fs::is_directory(folder, ec)) {
    return Error::bad_input(fmt::format("{}: is not a folder", folder.string()));
  }
  for (const File& file : files) {
    const fs::path path = folder / file.path;
    if (!there(path)) continue;
    if (!fs::is_regular_file(fs::symlink_status(path, ec))) {
      return Error::bad_input(fmt::format("{}: is there and is no file", path.string()));
    }
    if (!force) {
      return Error::bad_input(fmt::format("{}: exists: give --force to replace it", path.string()));
    }
  }
  return {};
}

Result<void> write_files(const fs::path& folder, const std::vector<File>& files, bool force) {
  SP_CHECK(may_write(folder, files, force));
  const fs::path base = fs::absolute(folder).lexically_normal(), first = existing(base);
  // A folder that was not there goes again when something fails.
  Scratch made{first == base ? fs::path() : first / *base.lexically_relative(first).begin()};
  SP_CHECK(make_folder(base));
  const Scratch scratch{base / fmt::format(".setpoint.tmp{}", ::getpid())};
  SP_CHECK(stage(scratch.path / "new", files));
  Moves moves;
  for (const File& file : files) {
    const fs::path path = base / file.path;
    if (there(path)) SP_CHECK(moves.rename(path, scratch.path / "old" / file.path));
    SP_CHECK(moves.rename(scratch.path / "new" / file.path, path));
  }
  moves.keep();
  made.path.clear();
  return {};
}

}  // namespace setpoint::generate
