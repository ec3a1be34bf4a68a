// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>

#include "base/embedded.h"
#include "base/file.h"
#include "base/process.h"
#include "perfdb/import.h"
#include "perfdb/locate.h"

namespace setpoint::perfdb {
namespace {

namespace fs = std::filesystem;

constexpr int kInterrupted = 130;

// The converter and what it reads travel in the binary; they are laid out in the cache folder.
Result<fs::path> lay_out(const fs::path& folder) {
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) {
    return Error::environment(fmt::format("{}: cannot make: {}", folder.string(), ec.message()));
  }
  for (const char* name :
       {"convert.py", "python-env", "requirements.txt", "ops.json", "schema.sql"}) {
    const auto text = base::embedded_file(std::string("perfdb/") + name);
    if (!text) return Error::environment(fmt::format("perfdb/{}: not in this binary", name));
    SP_CHECK(base::write_file_atomically(folder / name, *text));
  }
  return folder;
}

Result<std::string> find_python(const fs::path& scripts) {
  const char* const given = std::getenv("SETPOINT_PYTHON");
  if (given != nullptr && *given != '\0') return std::string(given);
  SP_TRY(const base::Ran ran, base::run_program({"/bin/sh", (scripts / "python-env").string(),
                                                 (cache_folder() / "python").string()}));
  if (ran.exit_code != 0) {
    return Error::environment(
        "no Python environment for the converter (see above); SETPOINT_PYTHON=PYTHON names one "
        "that has pyarrow, numpy and PyYAML");
  }
  return ran.out.substr(0, ran.out.find('\n'));
}

}  // namespace

Result<std::string> import_packages(const fs::path& database,
                                    const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code ec;
    if (!fs::exists(path, ec)) return Error::environment(fmt::format("{}: no such file", path));
  }
  SP_TRY(const fs::path scripts, lay_out(cache_folder() / "converter"));
  SP_TRY(const std::string python, find_python(scripts));
  std::error_code ec;
  fs::create_directories(fs::absolute(database).parent_path(), ec);
  std::vector<std::string> words{
      python,     (scripts / "convert.py").string(), "--ops", (scripts / "ops.json").string(),
      "--schema", (scripts / "schema.sql").string(), "--out", database.string(),
      "--"};
  words.insert(words.end(), paths.begin(), paths.end());
  SP_TRY(base::Ran ran, base::run_program(words));
  if (ran.exit_code == 0) return std::move(ran.out);
  if (ran.exit_code == kInterrupted) {
    return Error::environment(
        fmt::format("import interrupted; {} is as before", database.string()));
  }
  return Error{ran.exit_code == 2 ? ErrorCode::bad_input : ErrorCode::environment,
               fmt::format("the converter failed (exit code {}, see above); {} is as before",
                           ran.exit_code, database.string())};
}

}  // namespace setpoint::perfdb
