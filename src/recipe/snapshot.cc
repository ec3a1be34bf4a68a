// SPDX-License-Identifier: Apache-2.0
#include "recipe/snapshot.h"

#include <fmt/format.h>

#include "base/canonical.h"
#include "base/file.h"
#include "base/sha256.h"

namespace setpoint::recipe {
namespace {

using base::Json;
using base::JsonView;

Json values_json(const FinalValues& values) {
  return {{"framework", values.framework},
          {"version", values.version},
          {"parameters", Json(values.parameters)},
          {"environment", Json(values.environment)},
          {"facts", Json(values.facts)}};
}

// The names are whole ("model.tp_size"), so they are taken as they are.
Result<FinalValues> values_from(const JsonView& json) {
  FinalValues out;
  SP_TRY(const JsonView framework, json.at("framework"));
  SP_TRY(out.framework, framework.string());
  SP_TRY(const JsonView version, json.at("version"));
  SP_TRY(out.version, version.string());
  SP_TRY(const JsonView parameters, json.at("parameters"));
  for (const auto& [name, value] : parameters.json().items()) out.parameters[name] = value;
  SP_TRY(const JsonView facts, json.at("facts"));
  for (const auto& [name, value] : facts.json().items()) out.facts[name] = value;
  SP_TRY(const JsonView environment, json.at("environment"));
  for (const auto& [name, value] : environment.json().items()) {
    SP_TRY(out.environment[name], JsonView(value, environment.path() + "." + name).string());
  }
  return out;
}

}  // namespace

Result<Snapshot> Snapshot::freeze(const Recipe& recipe, const FinalValues& effective,
                                  const std::map<std::string, std::string>& files) {
  const Json document{{"schema", "setpoint-snapshot/1"},
                      {"recipe", recipe.document},
                      {"effective", values_json(effective)},
                      {"files", Json(files)}};
  SP_TRY(std::string bytes, base::canonical_json(document));
  return from_bytes(std::move(bytes));
}

Result<Snapshot> Snapshot::from_bytes(std::string bytes) {
  Snapshot out;
  out.digest_ = base::sha256_hex(bytes);
  SP_TRY(const Json document, base::parse_json(bytes, "snapshot"));
  const JsonView view(document, "snapshot");
  SP_TRY(const JsonView recipe, view.at("recipe"));
  SP_TRY(out.recipe_, parse_recipe(base::json_text(recipe.json()), "snapshot.recipe"));
  SP_TRY(const JsonView effective, view.at("effective"));
  SP_TRY(out.effective_, values_from(effective));
  SP_TRY(const JsonView files, view.at("files"));
  for (const auto& [name, value] : files.json().items()) {
    SP_TRY(out.files_[name], JsonView(value, "snapshot.files." + name).string());
  }
  out.bytes_ = std::move(bytes);
  return out;
}

Result<void> Snapshot::store(const std::filesystem::path& folder) const {
  return base::write_file_atomically(folder / (digest_ + ".json"), bytes_);
}

Result<Snapshot> Snapshot::load(const std::filesystem::path& folder, const std::string& digest) {
  if (!base::is_sha256_hex(digest)) {
    return Error::bad_input("a snapshot's name is its SHA-256, found \"" + digest + "\"");
  }
  SP_TRY(std::string bytes, base::read_file(folder / (digest + ".json")));
  const std::string found = base::sha256_hex(bytes);
  if (found != digest) {
    return Error::bad_input(
        fmt::format("snapshot {} was changed: its bytes have digest {}", digest, found));
  }
  return from_bytes(std::move(bytes));
}

}  // namespace setpoint::recipe
