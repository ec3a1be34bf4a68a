// SPDX-License-Identifier: Apache-2.0
#include "recipe/canonical.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "recipe/diff.h"
#include "recipe/snapshot.h"

namespace setpoint::recipe {
namespace {

using base::Json;

const Noise kNone = [](const std::string&) { return false; };

FinalValues values(const char* parameters, std::map<std::string, std::string> environment = {}) {
  FinalValues out;
  out.framework = "megatron-core";
  const Json json = Json::parse(parameters);
  for (const auto& [name, value] : json.items()) out.parameters[name] = value;
  out.environment = std::move(environment);
  return out;
}

TEST(Canonical, WritesEachNumberFormatAndEnumerationOneWay) {
  EXPECT_EQ(canonical_value("torch.bfloat16"), canonical_value("bf16"));
  EXPECT_EQ(canonical_value("bfloat16"), "bf16");
  EXPECT_EQ(canonical_value("torch.float32"), "fp32");
  EXPECT_EQ(canonical_value("AttnBackend.flash"), "flash");
  EXPECT_EQ(canonical_value("<AttnBackend.flash: 1>"), "flash");
  EXPECT_EQ(canonical_value(1.0), 1);
  EXPECT_EQ(canonical_value(Json::array({"torch.float16", 2.0})), Json::array({"fp16", 2}));
}

TEST(Canonical, KeepsTextsApartThatOnlyLookAlike) {
  EXPECT_NE(canonical_value("Shard.json"), canonical_value("Other.json"));
  EXPECT_NE(canonical_value("<Thing: 1>"), canonical_value("<Thing: 2>"));
  EXPECT_NE(canonical_value("1"), canonical_value(1));
  EXPECT_NE(canonical_value(nullptr), canonical_value(false));
}

TEST(Diff, ListsEveryParameterAndTheWholeEnvironment) {
  const auto found =
      diff(values(R"({"a": 1, "b": null, "lr": 1e-4, "rank": 0})", {{"X", "1"}, {"RANK", "0"}}),
           values(R"({"a": 2, "c": 3, "lr": 0.0001, "rank": 5})", {{"Y", "1"}, {"RANK", "5"}}));
  const std::vector<Difference> expected{{"a", Json(1), Json(2)},
                                         {"b", Json(), {}},
                                         {"c", {}, Json(3)},
                                         {"env.X", Json("1"), {}},
                                         {"env.Y", {}, Json("1")}};
  EXPECT_EQ(found, expected);
}

TEST(Diff, ComparesPathsByContentWhereBothSidesKnowIt) {
  FinalValues a = values(R"({"load": "/ckpt/a"})"), b = values(R"({"load": "/ckpt/b"})");
  EXPECT_EQ(diff(a, b).size(), 1U);
  a.facts["content.load"] = "sha256:1";
  EXPECT_EQ(diff(a, b).size(), 1U);
  b.facts["content.load"] = "sha256:1";
  EXPECT_TRUE(diff(a, b).empty());
  b.parameters["load"] = "/ckpt/a";
  b.facts["content.load"] = "sha256:2";  // same path, other weights
  EXPECT_EQ(diff(a, b).size(), 1U);
}

TEST(EffectiveHash, DependsOnValuesAndNotOnSpellingRankOrNoise) {
  const FinalValues a =
      values(R"({"dtype": "torch.bfloat16", "n": 1.0, "rank": 0, "save": "/x"})", {{"HOME", "/a"}});
  FinalValues b = values(R"({"save": "/y", "rank": 3, "n": 1, "dtype": "bf16"})", {{"HOME", "/b"}});
  const Noise noise = [](const std::string& name) { return name == "save" || name == "env.HOME"; };
  EXPECT_EQ(*effective_hash(a, noise), *effective_hash(b, noise));
  EXPECT_NE(*effective_hash(a, kNone), *effective_hash(b, kNone));
  b.parameters["n"] = 2;
  EXPECT_NE(*effective_hash(a, noise), *effective_hash(b, noise));
  b = a;
  b.version = "0.16.0";
  EXPECT_NE(*effective_hash(a, noise), *effective_hash(b, noise));
}

constexpr const char* kRecipe = R"({"schema": "setpoint-recipe/1", "name": "glm",
  "framework": {"name": "megatron-bridge", "version": "0.6.2"},
  "parallel": {"tp": 2, "pp": 8, "first": 10},
  "settings": {"model.tensor_model_parallel_size": 2, "train.global_batch_size": 2048},
  "environment": {"NVTE_FUSED_ATTN": "1"}})";

TEST(RecipeFile, StatesWhatIsAskedFor) {
  const auto recipe = parse_recipe(kRecipe, "glm.json");
  ASSERT_TRUE(recipe.ok()) << recipe.error().text;
  EXPECT_EQ(recipe->framework, "megatron-bridge");
  EXPECT_EQ(recipe->settings.at("train.global_batch_size"), 2048);
  EXPECT_EQ(recipe->environment.at("NVTE_FUSED_ATTN"), "1");
}

TEST(RecipeFile, RefusesUnknownKeysWrongTypesAndMissingFields) {
  struct Bad {
    const char *from, *to, *says;
  };
  for (const Bad& bad : {Bad{"\"tp\": 2", "\"tpp\": 2", "unknown key \"tpp\""},
                         Bad{"\"tp\": 2", "\"tp\": \"two\"", "expected a whole number"},
                         Bad{"\"name\": \"glm\",", "", "\"name\" is missing"},
                         Bad{"recipe/1", "recipe/9", "expected \"setpoint-recipe/1\""},
                         Bad{"\"1\"}", "1}", "expected text"},
                         Bad{"\"settings\": {", "\"setings\": {", "nearest known: settings"}}) {
    std::string text = kRecipe;
    text.replace(text.find(bad.from), std::string(bad.from).size(), bad.to);
    const auto recipe = parse_recipe(text, "glm.json");
    ASSERT_FALSE(recipe.ok()) << bad.to;
    EXPECT_NE(recipe.error().text.find(bad.says), std::string::npos) << recipe.error().text;
  }
}

TEST(RequestedHash, IgnoresOrderNameAndTheGroupedFields) {
  const auto a = parse_recipe(kRecipe, "a");
  const auto b = parse_recipe(R"({"name": "other", "schema": "setpoint-recipe/1",
    "environment": {"NVTE_FUSED_ATTN": "1"}, "comment": "a note",
    "settings": {"train.global_batch_size": 2048, "model.tensor_model_parallel_size": 2},
    "framework": {"version": "0.6.2", "name": "megatron-bridge"}})",
                              "b");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(*requested_hash(*a), *requested_hash(*b));
}

TEST(Snapshot, IsFoundByItsDigestAndRefusedOnceChanged) {
  const auto recipe = parse_recipe(kRecipe, "a");
  FinalValues effective =
      values(R"({"model.tensor_model_parallel_size": 2, "x": null})", {{"A", "1"}});
  effective.facts["arch"] = 90;
  const auto snapshot = Snapshot::freeze(*recipe, effective, {{"patch.diff", "--- a"}});
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().text;
  const std::filesystem::path folder = testing::TempDir() + "/snapshots";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(snapshot->store(folder).ok());
  const auto loaded = Snapshot::load(folder, snapshot->digest());
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  EXPECT_EQ(loaded->effective(), effective);
  EXPECT_EQ(loaded->recipe().settings, recipe->settings);
  EXPECT_EQ(loaded->files().at("patch.diff"), "--- a");

  const auto file = folder / (snapshot->digest() + ".json");
  std::string bytes = *base::read_file(file);
  bytes.replace(bytes.find("2048"), 4, "1024");
  ASSERT_TRUE(base::write_file_atomically(file, bytes).ok());
  const auto changed = Snapshot::load(folder, snapshot->digest());
  ASSERT_FALSE(changed.ok());
  EXPECT_NE(changed.error().text.find("was changed"), std::string::npos);
  EXPECT_FALSE(Snapshot::load(folder, "../../etc/passwd").ok());
}

}  // namespace
}  // namespace setpoint::recipe
