// SPDX-License-Identifier: Apache-2.0
#include "recipe/recipe.h"

#include <array>

#include "base/canonical.h"
#include "base/sha256.h"
#include "recipe/canonical.h"

namespace setpoint::recipe {
namespace {

using base::JsonView;

struct Group {
  std::string_view name;
  std::string_view members;  // separated by blanks
};
constexpr std::array kGroups{
    Group{"framework", "name version te_version torch nccl container"},
    Group{"model", "key checkpoint dims"},
    Group{"data", "source_hash order_seed seq_length packing"},
    Group{"batch", "global micro"},
    Group{"precision", ""},
    Group{"optimizer", ""},
    Group{"parallel", "tp pp vpp cp ep etp dp first last layout"},
    Group{"sharding", "kind strategy"},
    Group{"memory", "recompute modules layers offload"},
    Group{"overlap", ""},
    Group{"kernels", ""},
    Group{"settings", ""},
    Group{"environment", ""},
    Group{"cluster", "gpu gpus per_node nvlink_domain fabric"},
    Group{"protocol", "warmup scored seed"},
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Result<void> check_keys(const JsonView& view) {
  std::vector<std::string> top{"schema", "name", "comment"};
  for (const Group& group : kGroups) top.emplace_back(group.name);
  SP_CHECK(view.only(top));
  for (const Group& group : kGroups) {
    const auto member = view.find(group.name);
    if (!member) continue;
    if (!member->is_object()) return member->error("expected an object");
    if (!group.members.empty()) SP_CHECK(member->only(words(group.members)));
  }
  for (const char* whole : {"parallel", "batch"}) {
    const auto group = view.find(whole);
    for (const std::string& key : group ? group->keys() : std::vector<std::string>()) {
      const auto value = group->find(key);
      if (!value || key == "layout") continue;
      constexpr std::int64_t kMost = std::int64_t{1} << 40;
      SP_CHECK(value->integer(0, kMost));
    }
  }
  return {};
}

}  // namespace

Result<Recipe> parse_recipe(std::string_view text, const std::string& what) {
  Recipe recipe;
  SP_TRY(recipe.document, base::parse_json(text, what));
  const JsonView view(recipe.document, what);
  SP_TRY(const JsonView schema, view.at("schema"));
  if (schema.json() != "setpoint-recipe/1") return schema.error("expected \"setpoint-recipe/1\"");
  SP_CHECK(check_keys(view));
  SP_TRY(const JsonView name, view.at("name"));
  SP_TRY(recipe.name, name.string());
  SP_TRY(const JsonView framework, view.at("framework"));
  SP_TRY(const JsonView framework_name, framework.at("name"));
  SP_TRY(recipe.framework, framework_name.string());
  SP_TRY(const JsonView version, framework.at("version"));
  SP_TRY(recipe.version, version.string());
  SP_TRY(const JsonView settings, view.at("settings"));
  for (const auto& [key, value] : settings.json().items()) recipe.settings[key] = value;
  if (const auto environment = view.find("environment")) {
    for (const auto& [key, value] : environment->json().items()) {
      SP_TRY(recipe.environment[key], JsonView(value, environment->path() + "." + key).string());
    }
  }
  return recipe;
}

Result<std::string> requested_hash(const Recipe& recipe) {
  const FinalValues asked{
      recipe.framework, recipe.version, recipe.settings, recipe.environment, {}};
  return effective_hash(asked, [](const std::string&) { return false; });
}

}  // namespace setpoint::recipe
