// SPDX-License-Identifier: Apache-2.0
// A recipe frozen for one trial: bytes under the name of their SHA-256, outside the workspace of
// whoever proposed it. What is judged, permitted and launched is this value, never a path that can
// change in between.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "recipe/final_values.h"
#include "recipe/recipe.h"
#include "setpoint/result.h"

namespace setpoint::recipe {

class Snapshot {
 public:
  // `files`: what travels with the recipe, by relative path (a patch, a launch script).
  static Result<Snapshot> freeze(const Recipe& recipe, const FinalValues& effective,
                                 const std::map<std::string, std::string>& files = {});
  const std::string& digest() const { return digest_; }
  const std::string& bytes() const { return bytes_; }  // canonical JSON
  const Recipe& recipe() const { return recipe_; }
  const FinalValues& effective() const { return effective_; }
  const std::map<std::string, std::string>& files() const { return files_; }

  // DIGEST.json in the folder; storing what is there already changes nothing.
  Result<void> store(const std::filesystem::path& folder) const;
  // Refused when the bytes do not have that digest.
  static Result<Snapshot> load(const std::filesystem::path& folder, const std::string& digest);

 private:
  Snapshot() = default;
  static Result<Snapshot> from_bytes(std::string bytes);

  std::string digest_, bytes_;
  Recipe recipe_;
  FinalValues effective_;
  std::map<std::string, std::string> files_;
};

}  // namespace setpoint::recipe
