// SPDX-License-Identifier: Apache-2.0
#include "judge/defects.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "register_values.h"

namespace setpoint::judge {
namespace {

Truth window(const std::string& introduced, const std::string& fixed_in,
             const std::string& fixed_on, const std::string& version,
             const std::string& date = "") {
  Defect defect;
  defect.introduced = introduced;
  defect.fixed_in = fixed_in;
  defect.fixed_on = fixed_on;
  return in_window(defect, version, date);
}

TEST(Defects, EndWithTheFirstReleaseThatHasTheFix) {
  EXPECT_EQ(window("", "0.16.0", "", "0.15.3"), Truth::yes);
  EXPECT_EQ(window("", "0.16.0", "", "0.16.0rc0"), Truth::yes);  // PEP 440: before 0.16.0
  EXPECT_EQ(window("", "0.16.0", "", "0.16.0"), Truth::no);
  EXPECT_EQ(window("", "0.16.0", "", "0.16.1"), Truth::no);
  EXPECT_EQ(window("", "0.16.0", "", "0.17.0.dev2"), Truth::no);
  EXPECT_EQ(window("", "", "", "9.9"), Truth::yes);  // open
}

TEST(Defects, BeginWithTheReleaseThatBroughtThem) {
  EXPECT_EQ(window("0.15.2", "0.18.10", "", "0.15.1"), Truth::no);
  EXPECT_EQ(window("0.15.2", "0.18.10", "", "0.15.2"), Truth::yes);
  EXPECT_EQ(window("0.15.2", "0.18.10", "", "0.18.9"), Truth::yes);
  EXPECT_EQ(window("0.15.2", "0.18.10", "", "0.18.10"), Truth::no);
}

TEST(Defects, LetTheDateDecideAboutBuildsOfTheReleaseWithTheFix) {
  EXPECT_EQ(window("", "0.18.0", "2026-06-02", "0.18.0rc0", "2026-06-01"), Truth::yes);
  EXPECT_EQ(window("", "0.18.0", "2026-06-02", "0.18.0rc0", "2026-06-02"), Truth::no);
  EXPECT_EQ(window("", "0.18.0", "2026-06-02", "0.17.0", "2026-07-01"), Truth::yes);
  EXPECT_EQ(window("", "0.18.0", "2026-06-02", "0.18.0+git5047"), Truth::unknown);
  EXPECT_EQ(window("", "0.18.0", "2026-06-02", "", "2026-06-01"), Truth::yes);
}

TEST(Defects, AreUnknownWhereTheVersionIs) {
  EXPECT_EQ(window("", "0.18.0", "2026-06-02", ""), Truth::unknown);
  EXPECT_EQ(window("", "0.18.0", "2026-06-02", "head"), Truth::unknown);
  EXPECT_EQ(window("0.2", "", "", ""), Truth::unknown);
  EXPECT_EQ(window("", "0.18.0", "2026-06-02", "", "yesterday"), Truth::unknown);
}

const DefectMatch* found(const std::vector<DefectMatch>& matches, const std::string& part) {
  const auto it = std::find_if(matches.begin(), matches.end(), [&](const DefectMatch& match) {
    return match.defect->id.find(part) != std::string::npos;
  });
  return it == matches.end() ? nullptr : &*it;
}

// Does the change from one set of parameters to another run into the defect?
Truth hit(const std::string& part, const Parameters& before, const Parameters& changes,
          const std::string& version, const std::string& date = "") {
  static const Defects defects = *shipped_defects(shipped("megatron-core"));
  const auto baseline = core(before, version, date);
  const auto candidate = core(with(before, changes), version, date);
  const auto matches = match_defects(defects, shipped("megatron-core"), candidate, baseline);
  const DefectMatch* match = found(matches, part);
  if (!match) return Truth::no;
  EXPECT_TRUE(match->touched) << part;
  EXPECT_NE(match->applied_before, Truth::yes) << part;
  return match->applies;
}

TEST(Defects, FindWhatWasReportedFromTheField) {
  const Parameters kPerToken = with(kExperts, {{"calculate_per_token_loss", true}});
  EXPECT_EQ(hit("5047", kPerToken, {{"tensor_model_parallel_size", 2}}, "0.18.0rc0", "2026-06-01"),
            Truth::yes);
  EXPECT_EQ(hit("5047", kPerToken, {{"tensor_model_parallel_size", 2}}, "0.18.0rc0", "2026-06-02"),
            Truth::no);
  const Parameters kTp4 = with(kExperts, {{"tensor_model_parallel_size", 4}});
  EXPECT_EQ(hit("5916", kTp4, {{"expert_model_parallel_size", 4}}, "0.18.2"), Truth::yes);
  EXPECT_EQ(hit("5916", kTp4, {{"expert_model_parallel_size", 4}}, "0.19.0"), Truth::no);
  EXPECT_EQ(hit("7530", with(kDense, {{"softmax_type", "learnable"}}),
                {{"tensor_model_parallel_size", 2}}, "0.20.0"),
            Truth::yes);
  EXPECT_EQ(hit("3693", with(kDense, {{"overlap_grad_reduce", true}}),
                {{"num_distributed_optimizer_instances", 2}}, "0.16.0rc0", "2026-03-18"),
            Truth::yes);
  EXPECT_EQ(hit("validate_args", with(kDense, {{"cross_entropy_loss_fusion", true}}),
                {{"cross_entropy_fusion_impl", "te"}}, "0.20.0"),
            Truth::yes);
  const Parameters kHybrid =
      with(kDense, {{"hybrid_layer_pattern", "M*M*"}, {"pipeline_model_parallel_size", 2}});
  EXPECT_EQ(hit("3399", kHybrid, {{"decoder_first_pipeline_num_layers", 3}}, "0.15.0"), Truth::yes);
  EXPECT_EQ(hit("3399", kHybrid, {{"decoder_first_pipeline_num_layers", 3}}, "0.16.0"), Truth::no);
  EXPECT_EQ(hit("3399", kDense, {{"decoder_first_pipeline_num_layers", 3}}, "0.15.0"), Truth::no);
}

TEST(Defects, SayWhatIsMissingWhereTheVersionIsUnknown) {
  static const Defects defects = *shipped_defects(shipped("megatron-core"));
  const auto baseline = core(with(kDense, {{"overlap_grad_reduce", true}}), "");
  const auto candidate = core(
      with(kDense, {{"overlap_grad_reduce", true}, {"num_distributed_optimizer_instances", 2}}),
      "");
  const auto matches = match_defects(defects, shipped("megatron-core"), candidate, baseline);
  const DefectMatch* match = found(matches, "3693");
  ASSERT_NE(match, nullptr);
  EXPECT_EQ(match->applies, Truth::unknown);
  EXPECT_EQ(match->unknown, std::vector<std::string>{"the version of megatron-core"});
  const RuleName instances{RuleName::Space::parameter, false,
                           "num_distributed_optimizer_instances"};
  EXPECT_EQ(defect_matched(matches, shipped("megatron-core"), instances), Truth::unknown);
  const RuleName seed{RuleName::Space::parameter, false, "seed"};
  EXPECT_EQ(defect_matched(matches, shipped("megatron-core"), seed), Truth::no);
}

TEST(Defects, CountTheVersionOfWhatLiesBeneath) {
  static const Defects defects = *shipped_defects(shipped("megatron-core"));
  auto values = core(with(kDense, {{"overlap_grad_reduce", true}, {"delay_wgrad_compute", true}}));
  values.facts["te_version"] = "2.7.0";
  EXPECT_EQ(found(match_defects(defects, shipped("megatron-core"), values, values),
                  "TransformerEngine-2142")
                ->applies,
            Truth::yes);
  values.facts["te_version"] = "2.8.0";
  EXPECT_EQ(found(match_defects(defects, shipped("megatron-core"), values, values),
                  "TransformerEngine-2142"),
            nullptr);
}

TEST(Defects, OfOtherFrameworksAreMatchedByTheirRegisters) {
  const Defects generic = *shipped_defects(shipped("generic"));
  recipe::FinalValues before, after;
  before.framework = "generic";
  before.parameters = {{"experts_implementation", "grouped_mm"}, {"expert_parallel_size", 2}};
  after = before;
  after.parameters["experts_implementation"] = "batched_mm";
  const auto matches = match_defects(generic, shipped("generic"), after, before);
  ASSERT_NE(found(matches, "48687"), nullptr);
  EXPECT_EQ(found(matches, "48687")->applies, Truth::yes);
  after.parameters["expert_parallel_size"] = 1;
  EXPECT_EQ(found(match_defects(generic, shipped("generic"), after, before), "48687"), nullptr);
}

std::string error_of(const std::string& defect) {
  const auto read = parse_defects(
      R"({"schema": "setpoint-defects/1", "signals": {}, "defects": [)" + defect + "]}", "d.json",
      shipped("megatron-core"));
  return read ? "read" : read.error().text;
}

TEST(Defects, RefuseWhatTheyDoNotKnowInOneLine) {
  const auto one = [](const std::string& condition, const std::string& more) {
    return error_of(R"({"id": "x", "package": "megatron-core", "conditions": {"megatron-core": ")" +
                    condition + R"("}, "effect": "e", "kind": "k", "shows_in": [], )" +
                    R"("reference": "r", "confidence": "high")" + more + "}");
  };
  EXPECT_EQ(one("num_layers > 1", ""), "read");
  EXPECT_EQ(one("num_layers >", "").substr(0, 23), "d.json.defects[0] (\"x\")");
  EXPECT_EQ(one("fact.moon", ""),
            "d.json.defects[0] (\"x\"): fact.moon is not in the table of facts");
  EXPECT_EQ(one("true", R"(, "fixed_in": "soon")"),
            "d.json.defects[0] (\"x\"): not a version: soon");
  EXPECT_EQ(one("true", R"(, "fixed_on": "June")"),
            "d.json.defects[0] (\"x\"): fixed_on: expected a date like 2026-02-13, found June");
  EXPECT_NE(one("true", R"(, "colour": 1)").find("colour"), std::string::npos);
}

}  // namespace
}  // namespace setpoint::judge
