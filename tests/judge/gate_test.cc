// SPDX-License-Identifier: Apache-2.0
#include "setpoint/gate.h"

#include "cases.h"

namespace setpoint::judge {
namespace {

recipe::Run megatron() { return base_of(base::Json{{"base", base::Json::object()}}); }

GateReport judged(const recipe::Run& original, const recipe::Run& candidate) {
  const Judges& judges = judges_of("megatron-core");
  return gate_before({original}, {candidate}, judges.by, judges.defects);
}

const Finding* find(const GateReport& report, const std::string& name) {
  for (const Finding& finding : report.findings) {
    if (finding.name == name) return &finding;
  }
  return nullptr;
}

TEST(Gate, SameRecipeIsUnchangedAndSoIsOneThatDiffersInNeutralNamesOnly) {
  recipe::Run candidate = megatron();
  candidate.values.parameters["rank"] = 7;
  EXPECT_EQ(judged(megatron(), candidate).verdict, Outcome::unchanged);
}

TEST(Gate, OneRejectedDifferenceRejectsHoweverManyPass) {
  recipe::Run candidate = megatron();
  candidate.values.parameters["overlap_grad_reduce"] = true;
  candidate.values.parameters["tensor_model_parallel_size"] = 2;
  EXPECT_EQ(judged(megatron(), candidate).verdict, Outcome::pass);
  candidate.values.parameters["exp_avg_dtype"] = "torch.bfloat16";
  const GateReport report = judged(megatron(), candidate);
  EXPECT_EQ(report.verdict, Outcome::reject);
  EXPECT_EQ(report.findings.front().name, "exp_avg_dtype");
  EXPECT_EQ(report.findings.front().kind, "precision");
  EXPECT_NE(report.findings.front().source, "");
}

TEST(Gate, WhatIsNotInTheRegisterIsForReview) {
  recipe::Run candidate = megatron();
  candidate.values.parameters["a_flag_of_tomorrow"] = true;
  EXPECT_EQ(judged(megatron(), candidate).verdict, Outcome::review);
  candidate = megatron();
  candidate.values.environment["A_VARIABLE_OF_TOMORROW"] = "1";
  recipe::Run original = megatron();
  original.values.environment["PATH"] = candidate.values.environment["PATH"] = "/bin";
  EXPECT_EQ(judged(original, candidate).verdict, Outcome::review);
}

TEST(Gate, AnEnvironmentOnOneSideAloneIsForReview) {
  recipe::Run candidate = megatron();
  candidate.values.environment["PATH"] = "/bin";
  const GateReport report = judged(megatron(), candidate);
  EXPECT_EQ(report.verdict, Outcome::review);
  EXPECT_EQ(report.findings.size(), 1U) << shown(report);
}

TEST(Gate, EnvironmentVariablesAreJudgedAsParametersAre) {
  recipe::Run original = megatron(), candidate = megatron();
  original.values.environment = candidate.values.environment = {{"PATH", "/bin"}};
  candidate.values.environment["NVTE_ALLOW_NONDETERMINISTIC_ALGO"] = "0";
  const GateReport report = judged(original, candidate);
  ASSERT_NE(find(report, "env.NVTE_ALLOW_NONDETERMINISTIC_ALGO"), nullptr) << shown(report);
}

TEST(Gate, RanksThatDisagreeAreRejected) {
  recipe::Run candidate = megatron();
  candidate.ranks = 2;
  candidate.rank_differences.push_back({1, {"env.NCCL_ALGO", "Ring", "Tree"}});
  const GateReport report = judged(megatron(), candidate);
  EXPECT_EQ(report.verdict, Outcome::reject);
  EXPECT_NE(report.findings.front().why.find("rank 1"), std::string::npos);
}

TEST(Gate, AnEditedSourceTreeOtherDataOrWeightsAreRejected) {
  for (const char* fact : {"source_tree_hash", "data_order_hash", "checkpoint_hash"}) {
    recipe::Run original = megatron(), candidate = megatron();
    original.values.facts[fact] = "sha256:1";
    candidate.values.facts[fact] = "sha256:2";
    EXPECT_EQ(judged(original, candidate).verdict, Outcome::reject) << fact;
  }
}

TEST(Gate, AnotherFrameworkIsRejectedAnotherVersionForReview) {
  recipe::Run candidate = megatron();
  candidate.values.framework = "torchtitan";
  EXPECT_EQ(judged(megatron(), candidate).verdict, Outcome::reject);
  candidate = megatron();
  candidate.values.version = "0.20.0";
  EXPECT_EQ(judged(megatron(), candidate).verdict, Outcome::review);
}

TEST(Gate, AnUnknownVersionLetsNoDefectPassAsAbsent) {
  recipe::Run original = megatron(), candidate = megatron();
  original.values.version = candidate.values.version = "";
  candidate.values.parameters["overlap_grad_reduce"] = true;
  candidate.values.parameters["num_distributed_optimizer_instances"] = 2;
  EXPECT_EQ(judged(original, candidate).verdict, Outcome::review)
      << shown(judged(original, candidate));
}

TEST(Gate, AFactAboutLayersIsComputedHereAndNeverBelieved) {
  recipe::Run candidate = megatron();
  candidate.values.facts["layer_map_complete"] = true;
  candidate.values.parameters["pipeline_model_parallel_size"] = 5;  // 12 layers
  const GateReport report = judged(megatron(), candidate);
  EXPECT_EQ(report.verdict, Outcome::reject);
  ASSERT_NE(find(report, "layer map"), nullptr);
}

TEST(Gate, AParameterThatMovesUnaskedIsFlagged) {
  const recipe::Run original = megatron();
  recipe::Run candidate = megatron();
  recipe::FinalValues asked = original.values;
  asked.parameters["overlap_grad_reduce"] = true;
  candidate.values.parameters["overlap_grad_reduce"] = true;
  candidate.values.parameters["use_tp_pp_dp_mapping"] = true;
  const Judges& judges = judges_of("megatron-core");
  const GateReport report =
      gate_before({original, &original.values}, {candidate, &asked}, judges.by, judges.defects);
  const Finding* moved = find(report, "use_tp_pp_dp_mapping");
  ASSERT_NE(moved, nullptr);
  EXPECT_TRUE(moved->unasked);
  EXPECT_EQ(moved->verdict, Outcome::review);
  EXPECT_FALSE(find(report, "overlap_grad_reduce")->unasked);
}

TEST(Gate, EffectiveHashesTellRecipesApartAndNotTheirNeutralNames) {
  recipe::Run a = megatron(), b = megatron(), c = megatron();
  b.values.parameters["rank"] = 3;
  c.values.parameters["tensor_model_parallel_size"] = 2;
  const std::string hash = judged(a, a).effective_hash;
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(judged(a, b).effective_hash, hash);
  EXPECT_NE(judged(a, c).effective_hash, hash);
}

}  // namespace
}  // namespace setpoint::judge
