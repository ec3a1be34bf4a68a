// SPDX-License-Identifier: Apache-2.0
// The 63 groups of options in which pairs of Megatron-LM's regression runs differ (967 pairs, all
// of one training): each is let through, or held up by a condition that names its reason.
#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "register_values.h"

namespace setpoint::judge {
namespace {

// What each option changes, from a run of 16 GPUs with two stages and two tensor ranks. The table
// does not look at the register.
const std::map<std::string, Parameters> kLevers{
    {"attention-backend", {{"attention_backend", "flash"}}},
    {"ckpt-assume-constant-structure", {{"ckpt_assume_constant_structure", true}}},
    {"context-parallel-size", {{"context_parallel_size", 2}}},
    {"cross-entropy-loss-fusion", {{"cross_entropy_loss_fusion", true}}},
    {"ddp-average-in-collective", {{"ddp_average_in_collective", true}}},
    {"decoder-first-pipeline-num-layers", {{"decoder_first_pipeline_num_layers", 18}}},
    {"decoder-last-pipeline-num-layers", {{"decoder_last_pipeline_num_layers", 14}}},
    {"defer-embedding-wgrad-compute", {{"defer_embedding_wgrad_compute", true}}},
    {"deterministic-mode", {{"deterministic_mode", true}}},
    {"expert-model-parallel-size", {{"expert_model_parallel_size", 2}}},
    {"expert-tensor-parallel-size", {{"expert_tensor_parallel_size", 1}}},
    {"moe-grouped-gemm", {{"moe_grouped_gemm", false}}},
    {"no-create-attention-mask-in-dataloader", {{"create_attention_mask_in_dataloader", false}}},
    {"no-gradient-accumulation-fusion", {{"gradient_accumulation_fusion", false}}},
    {"no-mmap-bin-files", {{"mmap_bin_files", false}}},
    {"num-distributed-optimizer-instances", {{"num_distributed_optimizer_instances", 2}}},
    {"num-layers-per-virtual-pipeline-stage", {{"num_layers_per_virtual_pipeline_stage", 4}}},
    {"num-workers", {{"num_workers", 8}}},
    {"overlap-grad-reduce", {{"overlap_grad_reduce", true}}},
    {"overlap-param-gather", {{"overlap_param_gather", true}}},
    {"overlap-param-gather-with-optimizer-step",
     {{"overlap_param_gather_with_optimizer_step", true}}},
    {"pipeline-model-parallel-size", {{"pipeline_model_parallel_size", 4}}},
    {"sequence-parallel", {{"sequence_parallel", true}}},
    {"tensor-model-parallel-size", {{"tensor_model_parallel_size", 4}}},
    {"transformer-impl", {{"transformer_impl", "local"}}},
    {"use-distributed-optimizer", {{"use_distributed_optimizer", true}}},
    {"use-tp-pp-dp-mapping", {{"use_tp_pp_dp_mapping", true}}},
    {"wgrad-deferral-limit", {{"wgrad_deferral_limit", 4}}},
};

const Parameters kBase = with(kExperts, {{"world_size", 16},
                                         {"tensor_model_parallel_size", 2},
                                         {"pipeline_model_parallel_size", 2},
                                         {"dataloader_type", "single"}});

struct Answer {
  std::set<std::string> passed;
  std::map<std::string, Judgement> held;
};

Answer judge_group(const std::vector<std::string>& options) {
  Parameters changes;
  for (const std::string& option : options) {
    changes.insert(kLevers.at(option).begin(), kLevers.at(option).end());
  }
  const Register& by = shipped("megatron-core");
  const auto before = core(kBase), after = core(with(kBase, changes));
  const auto matches = match_defects(*shipped_defects(by), by, after, before);
  Answer answer;
  for (const auto& [name, value] : after.parameters) {
    const auto was = before.parameters.find(name);
    if (was != before.parameters.end() && same_value(was->second, value)) continue;
    const RuleName changed{RuleName::Space::parameter, false, name};
    Judgement judgement =
        judge_change(by, changed, after, before, defect_matched(matches, by, changed));
    if (judgement.verdict == Verdict::pass) answer.passed.insert(name);
    if (judgement.verdict != Verdict::pass) answer.held.emplace(name, std::move(judgement));
  }
  return answer;
}

std::vector<std::vector<std::string>> groups() {
  const auto text =
      base::read_file(std::string(SETPOINT_SOURCE_DIR) + "/tests/golden/train/lever_groups.json");
  const auto json = base::parse_json(*text, "lever_groups.json");
  std::vector<std::vector<std::string>> all;
  for (const auto& row : (*json)["groups"]) all.push_back(row[0].get<std::vector<std::string>>());
  return all;
}

// Held up: the attention kernel must be read back (6 groups have attention-backend), and weight
// gradients that leave the fused sum are rounded to BF16 (1 group).
TEST(RegisterLevers, EveryGroupOfReferenceRunsPassesOrMeetsANamedCondition) {
  const auto all = groups();
  ASSERT_EQ(all.size(), 63U);
  int passed = 0;
  std::set<std::string> conditions;
  for (const auto& options : all) {
    const Answer answer = judge_group(options);
    EXPECT_FALSE(answer.passed.empty() && answer.held.empty()) << options.front();
    for (const auto& [name, judgement] : answer.held) {
      ASSERT_NE(judgement.entry, nullptr) << name;
      EXPECT_TRUE(judgement.entry->pass_if.has_value()) << name << ": " << judgement.reason;
      conditions.insert(name);
    }
    passed += answer.held.empty() ? 1 : 0;
  }
  EXPECT_EQ(conditions,
            (std::set<std::string>{"attention_backend", "gradient_accumulation_fusion"}));
  EXPECT_EQ(passed, 63 - 6 - 1);
}

TEST(RegisterLevers, RandomWeightsHoldUpWhatDrawsThemAnew) {
  const Register& by = shipped("megatron-core");
  auto before = core(kBase), after = core(with(kBase, {{"tensor_model_parallel_size", 4}}));
  before.facts["weights_loaded"] = after.facts["weights_loaded"] = false;
  const RuleName split{RuleName::Space::parameter, false, "tensor_model_parallel_size"};
  const Judgement judgement = judge_change(by, split, after, before, Truth::no);
  EXPECT_EQ(judgement.verdict, Verdict::reject);
  EXPECT_NE(judgement.reason.find("fact.weights_loaded"), std::string::npos);
}

}  // namespace
}  // namespace setpoint::judge
