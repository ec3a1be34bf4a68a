// SPDX-License-Identifier: Apache-2.0
// The side effects that matter in Megatron-LM 0.20 (arguments.py, transformer_config.py) and
// Megatron-Bridge 0.7, as their validation code does them.
#include "judge/side_effects.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "register_values.h"

namespace setpoint::judge {
namespace {

base::Json final_of(const std::string& name, const Parameters& changes,
                    const Parameters& from = kDense) {
  const auto values = core(with(from, changes)).parameters;
  const auto it = values.find(name);
  return it == values.end() ? base::Json("unknown") : it->second;
}

TEST(SideEffects, TurnFp32AccumulationOnWithBf16UnlessBf16ReductionIsAskedFor) {
  EXPECT_EQ(final_of("accumulate_allreduce_grads_in_fp32", {}), true);
  EXPECT_EQ(final_of("accumulate_allreduce_grads_in_fp32",
                     {{"accumulate_allreduce_grads_in_fp32", false}}),
            true);
  EXPECT_EQ(final_of("accumulate_allreduce_grads_in_fp32", {{"grad_reduce_in_bf16", true}}), false);
}

TEST(SideEffects, DeriveTheBatchFromReplicasWhereItIsNotPinned) {
  EXPECT_EQ(final_of("global_batch_size", {{"global_batch_size", nullptr}}), 8);
  EXPECT_EQ(final_of("global_batch_size",
                     {{"global_batch_size", nullptr}, {"tensor_model_parallel_size", 4}}),
            2);
  EXPECT_EQ(final_of("global_batch_size", {{"tensor_model_parallel_size", 4}}), 64);
  EXPECT_EQ(final_of("data_parallel_size",
                     {{"tensor_model_parallel_size", 2}, {"context_parallel_size", 2}}),
            2);
}

TEST(SideEffects, TakeTheCapAwayWhereItIsNegative) {
  EXPECT_EQ(
      final_of("moe_expert_capacity_factor", {{"moe_expert_capacity_factor", -1.0}}, kExperts),
      nullptr);
  EXPECT_EQ(
      final_of("moe_expert_capacity_factor", {{"moe_expert_capacity_factor", 1.25}}, kExperts),
      1.25);
}

TEST(SideEffects, SwitchNanChecksOffWithFp16AndADynamicScale) {
  const Parameters kHalf{{"bf16", false}, {"fp16", true}};
  EXPECT_EQ(final_of("check_for_nan_in_loss_and_grad", kHalf), false);
  EXPECT_EQ(final_of("check_for_nan_in_loss_and_grad", with(kHalf, {{"loss_scale", 1024.0}})),
            true);
  EXPECT_EQ(final_of("params_dtype", kHalf), "fp16");
}

TEST(SideEffects, MakeRoutingGroupsOfTheExpertParallelDegree) {
  EXPECT_EQ(final_of("moe_router_num_groups",
                     {{"moe_router_topk_limited_devices", 2}, {"expert_model_parallel_size", 4}},
                     kExperts),
            4);
}

TEST(SideEffects, FollowTheTensorParallelDegree) {
  EXPECT_EQ(final_of("expert_tensor_parallel_size", {{"tensor_model_parallel_size", 4}}, kExperts),
            4);
  EXPECT_EQ(final_of("sequence_parallel", {{"sequence_parallel", true}}), false);
  EXPECT_EQ(final_of("sequence_parallel",
                     {{"sequence_parallel", true}, {"tensor_model_parallel_size", 2}}),
            true);
}

TEST(SideEffects, SetTheOthersThatADangerousOptionBringsAlong) {
  EXPECT_EQ(final_of("attention_softmax_in_fp32", {{"apply_query_key_layer_scaling", true}}), true);
  EXPECT_EQ(final_of("overlap_p2p_comm", {{"overlap_p2p_comm", true}}), false);
  EXPECT_EQ(final_of("batch_p2p_comm", {}), true);
  EXPECT_EQ(final_of("recompute_granularity", {{"recompute_activations", true}}), "selective");
  EXPECT_EQ(final_of("recompute_modules", {}), base::Json::array({"core_attn"}));
  EXPECT_EQ(final_of("use_distributed_optimizer",
                     {{"optimizer", "muon"}, {"use_distributed_optimizer", true}}),
            false);
  EXPECT_EQ(final_of("use_layer_wise_distributed_optimizer",
                     {{"optimizer", "muon"}, {"use_distributed_optimizer", true}}),
            true);
  EXPECT_EQ(final_of("fsdp_double_buffer", {{"use_megatron_fsdp", true}, {"nccl_ub", true}}), true);
  EXPECT_EQ(final_of("moe_ffn_hidden_size", {{"ffn_hidden_size", 14336}}, kExperts), 14336);
  EXPECT_EQ(
      final_of("num_query_groups", {{"group_query_attention", true}, {"num_query_groups", 8}}), 8);
}

// GPT-2's vocabulary under Megatron: 50,304 columns on one tensor rank, 51,200 on eight.
TEST(SideEffects, PadTheVocabularyByTensorRanks) {
  const Parameters kGpt2{{"vocab_size", 50257}};
  EXPECT_EQ(final_of("padded_vocab_size", kGpt2), 50304);
  EXPECT_EQ(final_of("padded_vocab_size", with(kGpt2, {{"tensor_model_parallel_size", 8}})), 51200);
}

TEST(SideEffects, TakeTheDecayOfTheScheduleFromTheLengthOfTheRun) {
  EXPECT_EQ(final_of("lr_decay_iters", {{"train_iters", 50}}), 50);
  EXPECT_EQ(final_of("lr_decay_iters", {{"train_iters", 50}, {"lr_decay_iters", 1000}}), 1000);
}

TEST(SideEffects, FillTheVariablesOfDeterministicModeWhereTheyAreUnset) {
  recipe::FinalValues requested;
  requested.framework = "megatron-core";
  requested.parameters = {{"deterministic_mode", true}};
  requested.environment = {{"PATH", "/bin"}, {"NCCL_ALGO", "Tree"}};
  const auto variables = replay(shipped("megatron-core"), requested).values.environment;
  EXPECT_EQ(variables.at("NCCL_ALGO"), "Tree");
  EXPECT_EQ(variables.at("CUBLAS_WORKSPACE_CONFIG"), ":4096:8");
}

TEST(SideEffects, LeaveUnknownWhatTheyCannotCompute) {
  EXPECT_EQ(final_of("cuda_graph_modules", {}), "unknown");
  EXPECT_EQ(final_of("gtp_weight_remat_size", {}), "unknown");
}

TEST(SideEffects, AfterThePrintRunOnlyWhatTheConfigurationClassesDo) {
  recipe::FinalValues printed;
  printed.framework = "megatron-core";
  printed.parameters = {{"optimizer", "muon"},
                        {"use_distributed_optimizer", false},
                        {"use_layer_wise_distributed_optimizer", true},
                        {"moe_expert_capacity_factor", -1.0}};
  const auto values = replay_after_print(shipped("megatron-core"), printed).values.parameters;
  EXPECT_EQ(values.at("use_layer_wise_distributed_optimizer"), true);
  EXPECT_EQ(values.at("moe_expert_capacity_factor"), nullptr);
  EXPECT_FALSE(values.contains("seed"));
}

struct TrainingRun {
  recipe::FinalValues requested, final;
};
TrainingRun run(const std::string& framework, const Parameters& requested,
                const Parameters& overwrite = {}) {
  TrainingRun out;
  out.requested.framework = framework;
  out.requested.parameters = requested;
  out.final = replay(shipped(framework), out.requested).values;
  for (const auto& [name, value] : overwrite) out.final.parameters[name] = value;
  return out;
}

const Unasked* find(const std::vector<Unasked>& moves, const std::string& name) {
  const auto it = std::find_if(moves.begin(), moves.end(),
                               [&](const Unasked& move) { return move.name == name; });
  return it == moves.end() ? nullptr : &*it;
}

TEST(SideEffects, NameTheLineThatMovedAParameterUnasked) {
  const Parameters kFree = with(kDense, {{"global_batch_size", nullptr}});
  const TrainingRun before = run("megatron-core", kFree);
  const TrainingRun after = run("megatron-core", with(kFree, {{"tensor_model_parallel_size", 4}}));
  const auto moves = unasked_moves(shipped("megatron-core"), {after.requested, after.final},
                                   {before.requested, before.final});
  const Unasked* batch = find(moves, "global_batch_size");
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->explained, Truth::yes);
  EXPECT_EQ(batch->origin, "megatron/training/arguments.py:validate_args:703");
  EXPECT_EQ(find(moves, "tensor_model_parallel_size"), nullptr);  // asked for
}

TEST(SideEffects, NeverCallAMoveExplainedThatNoLineComputes) {
  const TrainingRun before = run("megatron-core", kDense);
  const TrainingRun after = run("megatron-core", with(kDense, {{"overlap_grad_reduce", true}}),
                                {{"seed", 7}, {"gtp_weight_remat_size", 2}});
  const auto moves = unasked_moves(shipped("megatron-core"), {after.requested, after.final},
                                   {before.requested, before.final});
  EXPECT_EQ(find(moves, "seed")->explained, Truth::no);
  EXPECT_EQ(find(moves, "seed")->origin, "");
  EXPECT_EQ(find(moves, "gtp_weight_remat_size")->explained, Truth::unknown);
}

TEST(SideEffects, TellWhichRequestsWereOverruled) {
  const TrainingRun before = run("megatron-core", kDense);
  const TrainingRun after =
      run("megatron-core", with(kDense, {{"accumulate_allreduce_grads_in_fp32", false}}));
  const auto moves = unasked_moves(shipped("megatron-core"), {after.requested, after.final},
                                   {before.requested, before.final});
  ASSERT_NE(find(moves, "accumulate_allreduce_grads_in_fp32"), nullptr);
  EXPECT_TRUE(find(moves, "accumulate_allreduce_grads_in_fp32")->overruled);
  EXPECT_EQ(find(moves, "accumulate_allreduce_grads_in_fp32")->explained, Truth::yes);
}

// A gradient format written by hand is lost to the preset (mixed_precision.py, logged at debug).
TEST(SideEffects, LetBridgesPresetOverwriteWhatWasSetByHand) {
  const TrainingRun run_of_preset =
      run("megatron-bridge",
          {{"mixed_precision", "bf16_with_mxfp8_mixed"}, {"ddp.grad_reduce_in_fp32", false}});
  const auto& values = run_of_preset.final.parameters;
  EXPECT_EQ(values.at("ddp.grad_reduce_in_fp32"), true);
  EXPECT_EQ(values.at("model.fp8_recipe"), "mxfp8");
  EXPECT_EQ(values.at("ddp.reuse_grad_buf_for_mxfp8_param_ag"), true);
}

TEST(SideEffects, InferDeepSpeedsThirdBatchNumber) {
  recipe::FinalValues requested;
  requested.framework = "deepspeed";
  requested.facts["data_parallel_size"] = 8;
  requested.parameters = {{"train_micro_batch_size_per_gpu", 2},
                          {"gradient_accumulation_steps", 4},
                          {"zero_optimization.stage", 3}};
  const auto values = replay(shipped("deepspeed"), requested).values.parameters;
  EXPECT_EQ(values.at("train_batch_size"), 64);
  EXPECT_EQ(values.at("zero_optimization.overlap_comm"), true);
}

TEST(SideEffects, CountVariablesToo) {
  TrainingRun before = run("torchtitan", {}),
              after = run("torchtitan", {{"debug.deterministic", true}});
  before.final.environment = {{"PATH", "/bin"}};
  after.final.environment = {{"PATH", "/bin"}, {"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}};
  const auto moves = unasked_moves(shipped("torchtitan"), {after.requested, after.final},
                                   {before.requested, before.final});
  ASSERT_NE(find(moves, "env.CUBLAS_WORKSPACE_CONFIG"), nullptr);
  EXPECT_EQ(find(moves, "env.CUBLAS_WORKSPACE_CONFIG")->origin,
            "torchtitan/distributed/utils.py:set_determinism:209");
}

}  // namespace
}  // namespace setpoint::judge
