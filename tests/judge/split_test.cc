// SPDX-License-Identifier: Apache-2.0
#include "judge/split.h"

#include <gtest/gtest.h>

namespace setpoint::judge {
namespace {

using State = SplitCheck::State;
using base::Json;

recipe::FinalValues values(std::initializer_list<std::pair<const std::string, Json>> parameters) {
  recipe::FinalValues out;
  out.framework = "megatron-core";
  out.parameters = parameters;
  return out;
}

TEST(Split, GivesEachLayerOneStageInOrder) {
  const auto check =
      check_split(values({{"num_layers", 8}, {"pipeline_model_parallel_size", 4}}), "0.15.0");
  EXPECT_EQ(check.state, State::complete);
  EXPECT_EQ(check.built, (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(Split, InterleavesTheChunksOfAVirtualPipeline) {
  const auto check = check_split(values({{"num_layers", 8},
                                         {"pipeline_model_parallel_size", 2},
                                         {"virtual_pipeline_model_parallel_size", 2}}),
                                 "0.15.0");
  EXPECT_EQ(check.built, (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(Split, CountsEmbeddingAndLossAsLayersWhereTheVersionIsToldTo) {
  const auto check = check_split(values({{"num_layers", 6},
                                         {"pipeline_model_parallel_size", 4},
                                         {"account_for_embedding_in_pipeline_split", true},
                                         {"account_for_loss_in_pipeline_split", true}}),
                                 "0.15.0");
  EXPECT_EQ(check.state, State::complete);
  EXPECT_EQ(check.built, (std::vector<int>{0, 1, 1, 2, 2, 3}));
}

TEST(Split, RefusesWhatDoesNotDivide) {
  EXPECT_EQ(check_split(values({{"num_layers", 10}, {"pipeline_model_parallel_size", 4}}), "0.15.0")
                .state,
            State::broken);
  // GLM-4.5 has 92 layers: 10 on the first and last of 8 stages leave 72 for 6; 11 leave 70.
  const auto glm = [](int ends) {
    return check_split(values({{"model.num_layers", 92},
                               {"model.pipeline_model_parallel_size", 8},
                               {"model.num_layers_in_first_pipeline_stage", ends},
                               {"model.num_layers_in_last_pipeline_stage", ends}}),
                       "0.19.0")
        .state;
  };
  EXPECT_EQ(glm(10), State::complete);
  EXPECT_EQ(glm(11), State::broken);
  // One layer left on the only stage.
  EXPECT_EQ(check_split(values({{"num_layers", 20},
                                {"pipeline_model_parallel_size", 1},
                                {"decoder_last_pipeline_num_layers", 1}}),
                        "0.19.0")
                .state,
            State::broken);
}

TEST(Split, ReadsExplicitLayoutsAsTextAndAsLists) {
  const auto by = [](const Json& layout) {
    return check_split(values({{"num_layers", 5},
                               {"pipeline_model_parallel_size", 2},
                               {"virtual_pipeline_model_parallel_size", 2},
                               {"pipeline_model_parallel_layout", layout}}),
                       "0.19.0");
  };
  EXPECT_EQ(by("Et|(tt|)t|tmL").built, (std::vector<int>{0, 1, 1, 0, 1}));
  EXPECT_EQ(by("Et|t*2|t|tL").state, State::complete);
  EXPECT_EQ(by("Et|t*2|t|L").state, State::broken);  // four layers of five
  EXPECT_EQ(by("Et|t*2|ttL").state, State::broken);  // three stages of four
  EXPECT_EQ(by("Et|t*99999999999|t|L").state, State::broken);
  EXPECT_EQ(by("nonsense").state, State::broken);
  const Json lists = Json::parse(
      R"([["embedding","decoder"],["decoder","decoder"],["decoder"],["decoder","loss"]])");
  EXPECT_EQ(by(lists).built, by("Et|tt|t|tL").built);
}

// Nemotron-3-Nano has 52 layers. In megatron-core before 0.16 the hybrid stack was built evenly
// whatever first and last counts said, while layers were numbered by them.
TEST(Split, RefusesNineteenUnevenHybridSplitsForTheVersionsThatIgnoreCounts) {
  int checked = 0;
  for (const int stages : {2, 4}) {
    for (int first = stages == 2 ? 20 : 1; first <= (stages == 2 ? 32 : 22); ++first) {
      if ((52 - first) % (stages - 1) != 0 || first * stages == 52) continue;
      ++checked;
      const auto hybrid = values({{"num_layers", 52},
                                  {"is_hybrid_model", true},
                                  {"pipeline_model_parallel_size", stages},
                                  {"num_layers_in_first_pipeline_stage", first}});
      const auto before = check_split(hybrid, "0.15.2");
      EXPECT_EQ(before.state, State::broken) << stages << " " << first;
      EXPECT_NE(before.built, before.numbered);
      EXPECT_EQ(check_split(hybrid, "0.16.0").state, State::complete) << stages << " " << first;
      EXPECT_EQ(check_split(hybrid, "").state, State::unknown);
      EXPECT_EQ(check_split(hybrid, "0.16.0rc0").state, State::unknown);
    }
  }
  EXPECT_EQ(checked, 19);
  const auto even =
      values({{"num_layers", 52}, {"is_hybrid_model", true}, {"pipeline_model_parallel_size", 4}});
  EXPECT_EQ(check_split(even, "0.15.2").state, State::complete);
}

TEST(Split, SurvivesAbsurdCounts) {
  EXPECT_EQ(check_split(values({{"num_layers", -5}}), "").state, State::broken);
  EXPECT_EQ(check_split(values({{"num_layers", 1}, {"pipeline_model_parallel_size", 0}}), "").state,
            State::broken);
  EXPECT_EQ(check_split(values({{"num_layers", 9000000000000}}), "").state, State::broken);
  EXPECT_EQ(check_split(values({{"num_layers", 8},
                                {"pipeline_model_parallel_size", 2},
                                {"num_layers_in_first_pipeline_stage", -4}}),
                        "")
                .state,
            State::broken);
  EXPECT_EQ(check_split(values({}), "").state, State::not_stated);
}

}  // namespace
}  // namespace setpoint::judge
