// SPDX-License-Identifier: Apache-2.0
#include "model/ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/embedded.h"
#include "base/json.h"
#include "base/text.h"
#include "model/read.h"

namespace setpoint::model {
namespace {

constexpr std::string_view kFolder = "perfdb/models/";
constexpr std::string_view kSuffix = ".json";

// Our own file, written with the program: an unreadable one is a defect that the tests catch.
base::Json ids_file() {
  const auto text = base::embedded_file("perfdb/model_ids.json");
  if (!text) return base::Json::object();
  const auto json = base::parse_json(*text, "model_ids.json");
  return json ? *json : base::Json::object();
}

std::optional<std::string> same_letters(std::string_view name,
                                        const std::vector<std::string>& known) {
  const auto it = std::find_if(known.begin(), known.end(), [&](const std::string& id) {
    return base::lower(id) == base::lower(name);
  });
  return it == known.end() ? std::nullopt : std::optional<std::string>(*it);
}

// How publishers name a checkpoint of another precision.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kSuffixes{
    {{"fp8", "-FP8"}, {"fp4", "-NVFP4"}, {"fp4", "-FP4"}}};

}  // namespace

std::vector<std::string> shipped_models() {
  std::vector<std::string> ids;
  for (std::string_view path : base::embedded_files(kFolder)) {
    path.remove_prefix(kFolder.size());
    path.remove_suffix(kSuffix.size());
    const std::size_t dashes = path.find("--");
    if (dashes == std::string_view::npos || path.find('/') != std::string_view::npos) continue;
    ids.push_back(fmt::format("{}/{}", path.substr(0, dashes), path.substr(dashes + 2)));
  }
  return ids;
}

std::optional<std::string_view> shipped_config(std::string_view id) {
  const std::size_t slash = id.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string file =
      fmt::format("{}--{}{}", id.substr(0, slash), id.substr(slash + 1), kSuffix);
  // later/: families whose layers are not priced yet; found, so that they are refused by name
  const auto config = base::embedded_file(fmt::format("{}{}", kFolder, file));
  return config ? config : base::embedded_file(fmt::format("{}later/{}", kFolder, file));
}

std::optional<std::string> shipped_id(std::string_view name) {
  if (shipped_config(name)) return std::string(name);
  const auto known = shipped_models();
  if (auto found = same_letters(name, known)) return found;
  const base::Json file = ids_file();
  if (const auto aliases = file.find("aliases"); aliases != file.end()) {
    for (const auto& [alias, id] : aliases->items()) {
      if (base::lower(alias) == base::lower(name)) return id.get<std::string>();
    }
  }
  return std::nullopt;
}

std::optional<std::string> shipped_checkpoint(const std::string& model,
                                              const std::string& precision) {
  const base::Json file = ids_file();
  const std::string id = shipped_id(model).value_or(model);
  if (const auto rows = file.find("checkpoints"); rows != file.end()) {
    for (const base::Json& row : *rows) {
      if (row.at("model") == id && row.at("precision") == precision) {
        return row.at("id").get<std::string>();
      }
    }
  }
  const std::string name = id.substr(id.find('/') + 1);
  const auto known = shipped_models();
  for (const auto& [kind, suffix] : kSuffixes) {
    if (kind != precision) continue;
    for (const std::string& owner : {id.substr(0, id.find('/')), std::string("nvidia")}) {
      if (auto found = same_letters(fmt::format("{}/{}{}", owner, name, suffix), known)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace setpoint::model
