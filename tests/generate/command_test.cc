// SPDX-License-Identifier: Apache-2.0
// Commands of the three engines. Values are those that the engines' documentation and sources ask
// for; docs/generate-matrix.md has the verdict of their own parsers.
#include "generate/command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace setpoint::generate {
namespace {

// Qwen3-32B, dense, on two GPUs.
Settings dense(const std::string& framework) {
  RoleSettings role;
  role.shard = {.tp = 2};
  role.gpus = role.gpus_on_node = 2;
  role.max_requests = 112;
  role.max_tokens = 5612;
  role.chunk_tokens = 5500;
  role.max_len = 6500;
  role.kv_fraction = 0.83;
  role.graph_sizes = {1, 2, 4, 8, 16, 112};
  Settings settings;
  settings.framework = framework;
  settings.model = settings.served_name = "Qwen/Qwen3-32B";
  settings.roles = {role};
  return settings;
}

// DeepSeek-V3, attention data parallel over eight GPUs, one draft token, both pools.
Settings experts(const std::string& framework) {
  RoleSettings role;
  role.role = Role::decode;
  role.shard = {.tp = 1, .dp = 8, .moe_tp = 1, .moe_ep = 8};
  role.gpus = role.gpus_on_node = 8;
  role.max_requests = 128;
  role.max_tokens = 256;
  role.max_len = 6500;
  role.kv_fraction = 0.8;
  role.fp8_kv = true;
  role.kv_buffer_tokens = 5504;
  role.graph_sizes = {1, 2, 4, 8, 128};
  Settings settings;
  settings.framework = framework;
  settings.mode = Mode::disagg;
  settings.model = settings.served_name = "deepseek-ai/DeepSeek-V3";
  settings.moe = true;
  settings.nextn = 1;
  RoleSettings prefill = role;
  prefill.role = Role::prefill;
  prefill.max_requests = 1;
  prefill.max_tokens = 5500;
  prefill.graph_sizes = {};
  settings.roles = {prefill, role};
  return settings;
}

Place local() {
  Place place;
  place.bootstrap_port = 8998;
  place.side_channel_port = 20097;
  place.head_port = 29500;
  place.rpc_port = 29600;
  place.config_path = "decode.yaml";
  return place;
}

Result<Command> start(const Settings& settings, std::size_t role, const std::string& version,
                      const Place& place = local()) {
  const auto flags = FlagTable::open(settings.framework, version);
  return worker_command(settings, settings.roles[role], *flags, place);
}

// Words joined by spaces, for whole-command comparisons.
std::string line(const Command& command) {
  std::string out;
  for (const Word& word : command.argv) out += (out.empty() ? "" : " ") + word.text;
  return out;
}

// The word after `flag`; "" for a bare flag at the end; nullopt without the flag.
std::optional<std::string> value(const Command& command, const std::string& flag) {
  const auto at = std::find_if(command.argv.begin(), command.argv.end(),
                               [&](const Word& word) { return word.text == flag; });
  if (at == command.argv.end()) return std::nullopt;
  return at + 1 == command.argv.end() ? "" : (at + 1)->text;
}

TEST(Command, VllmDenseWorkerSaysEveryLimit) {
  const auto command = start(dense("vllm"), 0, "0.24.0");
  ASSERT_TRUE(command.ok()) << command.error().text;
  EXPECT_EQ(line(*command),
            "vllm serve Qwen/Qwen3-32B --served-model-name Qwen/Qwen3-32B --host 0.0.0.0 "
            "--port 8000 --tensor-parallel-size 2 --max-num-seqs 112 "
            "--max-num-batched-tokens 5612 --max-model-len 6500 --gpu-memory-utilization 0.83 "
            "--kv-cache-dtype auto --enable-chunked-prefill "
            "--cudagraph-capture-sizes 1 2 4 8 16 112");
  EXPECT_TRUE(command->notes.empty());
  EXPECT_TRUE(command->environment.empty());
}

TEST(Command, VllmDecodeWorkerCapturesDraftTokensAndHandsOverKv) {
  const auto command = start(experts("vllm"), 1, "0.24.0");
  ASSERT_TRUE(command.ok()) << command.error().text;
  EXPECT_EQ(value(*command, "--data-parallel-size"), "8");
  EXPECT_EQ(value(*command, "--tensor-parallel-size"), "1");
  EXPECT_TRUE(value(*command, "--enable-expert-parallel").has_value());
  EXPECT_EQ(value(*command, "--max-num-seqs"), "128");
  EXPECT_EQ(value(*command, "--speculative-config"),
            R"({"method":"mtp","num_speculative_tokens":1})");
  EXPECT_NE(line(*command).find("--cudagraph-capture-sizes 2 4 8 16 256 "), std::string::npos);
  for (std::size_t role : {0U, 1U}) {
    const auto both = start(experts("vllm"), role, "0.24.0");
    EXPECT_EQ(value(*both, "--kv-transfer-config"),
              R"({"kv_connector":"NixlConnector","kv_role":"kv_both"})");
    ASSERT_EQ(both->environment.size(), 2U);
    EXPECT_EQ(both->environment[1].value.text, "20097");
  }
}

TEST(Command, VllmStepBelowTheLongestRequestIsChunked) {
  Settings settings = dense("vllm");
  settings.roles[0].chunk_tokens = 0;
  EXPECT_TRUE(value(*start(settings, 0, "0.24.0"), "--enable-chunked-prefill").has_value());
  settings.roles[0].max_tokens = 8000;
  EXPECT_TRUE(value(*start(settings, 0, "0.24.0"), "--no-enable-chunked-prefill").has_value());
}

TEST(Command, VllmOverNodesGivesEachNodeItsRankAndOneServer) {
  Settings settings = experts("vllm");
  RoleSettings& role = settings.roles[1];
  role.shard = {.tp = 1, .dp = 16, .moe_tp = 1, .moe_ep = 16};
  role.gpus = 16;
  role.nodes = 2;
  Place place = local();
  place.head_address = {"$HEAD", true};
  place.node_rank = {"$RANK", true};
  const auto head = start(settings, 1, "0.24.0", place);
  EXPECT_EQ(value(*head, "--nnodes"), "2");
  EXPECT_EQ(value(*head, "--node-rank"), "$RANK");
  EXPECT_EQ(value(*head, "--master-addr"), "$HEAD");
  EXPECT_EQ(value(*head, "--data-parallel-size-local"), "8");
  EXPECT_EQ(value(*head, "--data-parallel-address"), "$HEAD");
  EXPECT_EQ(value(*head, "--data-parallel-rpc-port"), "29600");
  EXPECT_FALSE(value(*head, "--headless").has_value());
  place.first_node = false;
  const auto other = start(settings, 1, "0.24.0", place);
  EXPECT_TRUE(value(*other, "--headless").has_value());
  EXPECT_FALSE(value(*other, "--port").has_value());
}

TEST(Command, SglangCountsTheWholeWorker) {
  const auto command = start(experts("sglang"), 1, "0.5.16");
  ASSERT_TRUE(command.ok()) << command.error().text;
  EXPECT_EQ(value(*command, "--tp-size"), "8");
  EXPECT_EQ(value(*command, "--dp-size"), "8");
  EXPECT_TRUE(value(*command, "--enable-dp-attention").has_value());
  EXPECT_EQ(value(*command, "--ep-size"), "8");
  EXPECT_EQ(value(*command, "--max-running-requests"), "1024");
  EXPECT_EQ(value(*command, "--kv-cache-dtype"), "fp8_e4m3");
  EXPECT_NE(line(*command).find("--cuda-graph-bs-decode 1 2 4 8 128 "), std::string::npos);
  EXPECT_EQ(value(*command, "--dist-init-addr"), "127.0.0.1:29500");
}

TEST(Command, SglangSaysAllFourDraftFlagsOrNone) {
  const std::vector<std::string> flags{"--speculative-algorithm", "--speculative-num-steps",
                                       "--speculative-eagle-topk",
                                       "--speculative-num-draft-tokens"};
  const auto drafting = start(experts("sglang"), 0, "0.5.12"),
             plain = start(dense("sglang"), 0, "0.5.12");
  for (const std::string& flag : flags) {
    EXPECT_TRUE(value(*drafting, flag).has_value()) << flag;
    EXPECT_FALSE(value(*plain, flag).has_value()) << flag;
  }
  EXPECT_EQ(value(*drafting, "--speculative-num-draft-tokens"), "2");
}

TEST(Command, SglangAttentionRanksHaveTheirOwnFlagFrom0523On) {
  const auto command = start(experts("sglang"), 1, "0.5.23");
  EXPECT_EQ(value(*command, "--attn-dp-size"), "8");
  EXPECT_FALSE(value(*command, "--dp-size").has_value());
  EXPECT_FALSE(value(*command, "--enable-dp-attention").has_value());
}

TEST(Command, SglangPoolsNameTheirRoleAndConnector) {
  const Settings settings = experts("sglang");
  const auto prefill = start(settings, 0, "0.5.9"), decode = start(settings, 1, "0.5.9");
  EXPECT_EQ(value(*prefill, "--disaggregation-mode"), "prefill");
  EXPECT_EQ(value(*decode, "--disaggregation-mode"), "decode");
  EXPECT_EQ(value(*prefill, "--disaggregation-transfer-backend"), "nixl");
  EXPECT_EQ(value(*decode, "--disaggregation-transfer-backend"), "nixl");
  EXPECT_EQ(value(*prefill, "--disaggregation-bootstrap-port"), "8998");
}

TEST(Command, TrtllmOptionsFileHoldsTheWorkedExample) {
  const auto command = start(experts("trtllm"), 1, "1.4.0.dev0");
  ASSERT_TRUE(command.ok()) << command.error().text;
  EXPECT_EQ(*command->config_yaml,
            "tensor_parallel_size: 8\n"
            "moe_expert_parallel_size: 8\n"
            "moe_tensor_parallel_size: 1\n"
            "enable_attention_dp: true\n"
            "max_batch_size: 128\n"
            "max_num_tokens: 256\n"
            "max_seq_len: 6500\n"
            "kv_cache_config:\n"
            "  free_gpu_memory_fraction: 0.8\n"
            "  dtype: fp8\n"
            "cuda_graph_config:\n"
            "  enable_padding: true\n"
            "  batch_sizes:\n  - 1\n  - 2\n  - 4\n  - 8\n  - 128\n"
            "moe_config:\n"
            "  backend: AUTO\n"
            "speculative_config:\n"
            "  decoding_type: MTP\n"
            "  num_nextn_predict_layers: 1\n"
            "cache_transceiver_config:\n"
            "  backend: NIXL\n"
            "  max_tokens_in_buffer: 5504\n");
  EXPECT_EQ(value(*command, "--config"), "decode.yaml");
  EXPECT_FALSE(command->mpi);
}

TEST(Command, TrtllmLimitsStandOnTheCommandLineTooUnlessAnotherProgramRunsTheWorker) {
  const auto own = start(experts("trtllm"), 1, "1.2.0rc5");
  EXPECT_EQ(value(*own, "--max_batch_size"), "128");
  EXPECT_EQ(value(*own, "--max_num_tokens"), "256");
  EXPECT_EQ(value(*own, "--max_seq_len"), "6500");
  Place inside = local();
  inside.http_port = 0;
  const auto other = start(experts("trtllm"), 1, "1.2.0rc5", inside);
  EXPECT_FALSE(value(*other, "--max_num_tokens").has_value());
  EXPECT_EQ(other->config_yaml, own->config_yaml);
}

TEST(Command, TrtllmKeysFollowTheVersion) {
  const Settings settings = experts("trtllm");
  const std::string candidate = *start(settings, 0, "1.0.0rc4")->config_yaml;
  EXPECT_NE(candidate.find("\nkv_cache_dtype: fp8\n"), std::string::npos);
  EXPECT_NE(candidate.find("backend: nixl\n"), std::string::npos);
  EXPECT_NE(candidate.find("disable_overlap_scheduler: true\n"), std::string::npos);
  const std::string release = *start(settings, 0, "1.0.0")->config_yaml;
  EXPECT_NE(release.find("\n  dtype: fp8\n"), std::string::npos);
  EXPECT_EQ(release.find("kv_cache_dtype"), std::string::npos);
  EXPECT_TRUE(value(*start(settings, 0, "1.0.0"), "--extra_llm_api_options").has_value());
}

TEST(Command, TrtllmOverNodesIsAnMpiJob) {
  Settings settings = experts("trtllm");
  settings.roles[1].nodes = 2;
  const auto command = start(settings, 1, "1.2.0rc5");
  EXPECT_TRUE(command->mpi);
  EXPECT_EQ(command->argv[0].text, "trtllm-llmapi-launch");
  EXPECT_NE(command->config_yaml->find("gpus_per_node: 8\n"), std::string::npos);
}

TEST(Command, TrtllmRefusesAttentionRanksNarrowerThanTheWorker) {
  Settings settings = experts("trtllm");
  settings.roles[1].shard = {.tp = 2, .dp = 4, .moe_tp = 1, .moe_ep = 8};
  const auto command = start(settings, 1, "1.2.0rc5");
  ASSERT_FALSE(command.ok());
  EXPECT_EQ(command.error().code, ErrorCode::bad_input);
}

TEST(Command, AliasIsSaidByEveryRoleOrRefusedWhereTheVersionCannot) {
  for (const char* framework : {"vllm", "sglang"}) {
    Settings settings = experts(framework);
    settings.served_name = "prod-a";
    const std::string version = settings.framework == "vllm" ? "0.19.0" : "0.5.10";
    for (std::size_t role : {0U, 1U}) {
      EXPECT_EQ(value(*start(settings, role, version), "--served-model-name"), "prod-a");
    }
  }
  Settings settings = experts("trtllm");
  settings.served_name = "prod-a";
  EXPECT_EQ(value(*start(settings, 0, "1.4.0.dev0"), "--served_model_name"), "prod-a");
  const auto refused = start(settings, 0, "1.2.0rc5");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text.find("1.4.0.dev0"), std::string::npos);
  settings.lenient = true;
  const auto lenient = start(settings, 0, "1.2.0rc5");
  ASSERT_TRUE(lenient.ok());
  EXPECT_FALSE(lenient->notes.empty());
}

TEST(Command, SettingThatAVersionCannotSayIsRefusedUnlessLenient) {
  Settings settings = experts("vllm");
  settings.roles[1].moe_backend = "triton";
  EXPECT_FALSE(start(settings, 1, "0.14.0").ok());
  EXPECT_EQ(value(*start(settings, 1, "0.19.0"), "--moe-backend"), "triton");
  settings.roles[1].moe_backend = "flydsl";  // from 0.24.0 on
  const auto unknown = start(settings, 1, "0.22.0");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().text.find("flashinfer_cutlass"), std::string::npos);
  EXPECT_TRUE(start(settings, 1, "0.24.0").ok());
}

TEST(Command, OtherVersionsFlagsAreNoted) {
  const auto command = start(dense("vllm"), 0, "0.23.0");
  ASSERT_EQ(command->notes.size(), 1U);
  EXPECT_NE(command->notes[0].find("0.22.0"), std::string::npos);
}

TEST(Command, PortsOfNeighboursAreKeptApart) {
  EXPECT_EQ(port_spans(experts("vllm"), experts("vllm").roles[1]).side_channel, 8);
  EXPECT_EQ(port_spans(experts("vllm"), experts("vllm").roles[1]).head, 0);
  EXPECT_EQ(port_spans(experts("sglang"), experts("sglang").roles[1]).head, 7);
  EXPECT_EQ(port_spans(dense("sglang"), dense("sglang").roles[0]).head, 0);
}

const std::vector<PoolMember> kMembers{{Role::prefill, {"10.0.0.1"}, 8001, 8998},
                                       {Role::prefill, {"10.0.0.1"}, 8002, 8999},
                                       {Role::decode, {"10.0.0.2"}, 8001, 0}};

std::optional<Command> front(const Settings& settings, const std::string& version,
                             const std::vector<PoolMember>& members) {
  Place place;
  place.config_path = "router.yaml";
  return *router_command(settings, *FlagTable::open(settings.framework, version), members, place);
}

TEST(Router, SglangKnowsBothPoolsAndTheBootstrapPorts) {
  EXPECT_EQ(line(*front(experts("sglang"), "0.5.16", kMembers)),
            "python3 -m sglang_router.launch_router --pd-disaggregation "
            "--prefill http://10.0.0.1:8001 8998 --prefill http://10.0.0.1:8002 8999 "
            "--decode http://10.0.0.2:8001 --host 0.0.0.0 --port 8000");
}

TEST(Router, SglangSpreadsOverAggregatedWorkers) {
  const std::vector<PoolMember> two{{Role::mixed, {"a"}, 8001, 0}, {Role::mixed, {"b"}, 8002, 0}};
  EXPECT_EQ(line(*front(dense("sglang"), "0.5.16", two)),
            "python3 -m sglang_router.launch_router --worker-urls http://a:8001 http://b:8002 "
            "--host 0.0.0.0 --port 8000");
  EXPECT_FALSE(front(dense("sglang"), "0.5.16", {two[0]}).has_value());
}

TEST(Router, TrtllmReadsAFileOfServers) {
  const auto command = front(experts("trtllm"), "1.2.0rc5", kMembers);
  EXPECT_EQ(line(*command), "trtllm-serve disaggregated -c router.yaml");
  EXPECT_NE(command->config_yaml->find("num_instances: 2\n"), std::string::npos);
  EXPECT_NE(command->config_yaml->find("10.0.0.2:8001"), std::string::npos);
  EXPECT_EQ(command->config_yaml->find("http://"), std::string::npos);
}

TEST(Router, VllmHasNone) { EXPECT_FALSE(front(experts("vllm"), "0.24.0", kMembers).has_value()); }

}  // namespace
}  // namespace setpoint::generate
