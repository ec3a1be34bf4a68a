// SPDX-License-Identifier: Apache-2.0
// Texts as the frameworks print them: lines of public logs, values changed.
#include "recipe/read.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace setpoint::recipe {
namespace {

using base::Json;

constexpr const char* kMegatron = R"(using torch.float16 for parameters ...
------------------------ arguments ------------------------
  adam_eps ........................................ 1e-08
  attention_backend ............................... AttnBackend.auto
  bf16 ............................................ True
  check_weight_hash_across_dp_replicas_interval ... None
  ckpt_convert_update_legacy_dist_opt_format_longer  False
  config_logger_dir ............................... 
  cp_comm_type .................................... ['p2p']
  data_path ....................................... ['0.7', 'data/a_text_document']
  lr .............................................. 0.00015
  make_vocab_size_divisible_by .................... 128
  num_layers ...................................... 28
  params_dtype .................................... torch.bfloat16
  tensor_model_parallel_size ...................... 4
  vocab_size ...................................... None
-------------------- end of arguments ---------------------
 > padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)
 iteration        1/     100 | consumed samples:          256 | lm loss: 1.046000E+01 |
)";

FinalValues parsed(const std::string& text) {
  auto values = parse_final_values(text, "a.log");
  EXPECT_TRUE(values.ok()) << (values.ok() ? "" : values.error().text);
  return values.ok() ? *values : FinalValues{};
}

std::string error_of(const std::string& text) {
  const auto values = parse_final_values(text, "a.log");
  EXPECT_FALSE(values.ok());
  if (values.ok()) return "";
  EXPECT_EQ(values.error().code, ErrorCode::bad_input);
  EXPECT_EQ(values.error().text.find('\n'), std::string::npos);
  return values.error().text;
}

std::string with_each_line(const std::string& mark, const std::string& text) {
  std::string out = mark;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += mark;
  }
  return out;
}

TEST(MegatronLog, GivesTypedArgumentsFromWithinAWholeLog) {
  const FinalValues values = parsed(kMegatron);
  EXPECT_EQ(values.framework, "megatron-core");
  EXPECT_EQ(values.parameters.at("num_layers"), 28);
  EXPECT_EQ(values.parameters.at("bf16"), true);
  EXPECT_EQ(values.parameters.at("lr"), 0.00015);
  EXPECT_EQ(values.parameters.at("config_logger_dir"), "");
  EXPECT_EQ(values.parameters.at("cp_comm_type"), Json::array({"p2p"}));
  EXPECT_EQ(values.parameters.at("data_path"), Json::array({"0.7", "data/a_text_document"}));
  EXPECT_EQ(values.parameters.at("ckpt_convert_update_legacy_dist_opt_format_longer"), false);
  EXPECT_TRUE(values.parameters.at("check_weight_hash_across_dp_replicas_interval").is_null());
  EXPECT_FALSE(values.parameters.contains("iteration"));
}

TEST(MegatronLog, TakesThePaddedVocabularyFromItsOwnLineElseFromTheRule) {
  EXPECT_EQ(parsed(kMegatron).parameters.at("padded_vocab_size"), 50688);
  std::string text = kMegatron;
  text.replace(text.find(" > padded"), 9, " > other ");
  text.replace(text.find("................................ None\n---"), 37,
               "................................ 50257\n");
  EXPECT_EQ(parsed(text).parameters.at("padded_vocab_size"), 50688);  // ceil(50257/512)*512
}

TEST(MegatronLog, ReadsThroughRankMarksColoursAndForeignLines) {
  FinalValues expected = parsed(kMegatron);
  EXPECT_EQ(parsed(with_each_line("0: ", kMegatron)), expected);
  EXPECT_EQ(parsed(with_each_line("[default0]:", kMegatron)), expected);
  EXPECT_EQ(parsed(with_each_line("\x1b[32m", kMegatron)), expected);
  std::string text = with_each_line("0: ", kMegatron);
  text.insert(text.find("0:   lr"), "3: WARNING: from another rank\n0: a warning in between\n");
  expected.facts["unread_lines"] = 1;
  EXPECT_EQ(parsed(text), expected);
}

TEST(MegatronLog, SaysWhetherWeightsWereLoaded) {
  const std::string log = kMegatron;
  EXPECT_FALSE(parsed(log).facts.contains("weights_loaded"));
  EXPECT_EQ(
      parsed(log + "  successfully loaded checkpoint from /ckpt [ t 1/4, p 1/1 ] at iteration 5\n")
          .facts.at("weights_loaded"),
      true);
  EXPECT_EQ(parsed(log + "    will not load any checkpoints and will start from random\n")
                .facts.at("weights_loaded"),
            false);
}

TEST(MegatronLog, RefusesASecondBlockThatDiffers) {
  std::string forged = kMegatron;
  forged.replace(forged.find(".... 28"), 7, ".... 20");
  EXPECT_NE(error_of(kMegatron + forged).find("differs from the first"), std::string::npos);
  EXPECT_EQ(parsed(std::string(kMegatron) + kMegatron).parameters.at("num_layers"), 28);
}

TEST(MegatronLog, RefusesABlockWithoutEndAndAnArgumentStatedTwice) {
  const std::string text = kMegatron;
  EXPECT_NE(error_of(text.substr(0, text.find("----- end"))).find("has no end"), std::string::npos);
  std::string twice = text;
  twice.insert(twice.find("  num_layers"),
               "  num_layers ...................................... 2\n");
  EXPECT_NE(error_of(twice).find("stated twice"), std::string::npos);
}

TEST(BridgeYaml, FlattensSectionsAndNamesTargets) {
  const FinalValues values = parsed(R"(
_target_: megatron.bridge.training.config.ConfigContainer
model:
  _target_: megatron.bridge.models.gpt_provider.GPTModelProvider
  activation_func: {_target_: torch.nn.functional.silu, _call_: false}
  attention_backend: {_target_: megatron.core.transformer.enums.AttnBackend, _args_: [5], _call_: true}
  autocast_dtype: {_target_: torch.bfloat16, _call_: false}
  layernorm_epsilon: 1.0e-05
  num_layers: 46
  pipeline_model_parallel_layout: null
  recompute_modules: [core_attn]
  version_text: '0.10'
ddp: &ddp
  grad_reduce_in_fp32: true
train:
  global_batch_size: 2048
copy: *ddp
)");
  EXPECT_EQ(values.framework, "megatron-bridge");
  EXPECT_EQ(values.parameters.at("model.num_layers"), 46);
  EXPECT_EQ(values.parameters.at("model.layernorm_epsilon"), 1e-5);
  EXPECT_EQ(values.parameters.at("model.activation_func"), "torch.nn.functional.silu");
  EXPECT_EQ(values.parameters.at("model.attention_backend"), "auto");
  EXPECT_EQ(values.parameters.at("model.autocast_dtype"), "torch.bfloat16");
  EXPECT_EQ(values.parameters.at("model.version_text"), "0.10");
  EXPECT_EQ(values.parameters.at("model.recompute_modules"), Json::array({"core_attn"}));
  EXPECT_TRUE(values.parameters.at("model.pipeline_model_parallel_layout").is_null());
  EXPECT_EQ(values.parameters.at("copy.grad_reduce_in_fp32"), true);
}

TEST(BridgeYaml, BoundsWhatAliasesUnfoldTo) {
  std::string bomb = "model: &a0 [x, x, x, x, x, x, x, x, x, x]\ntrain: {}\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "k" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 0; j < 9; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_NE(error_of(bomb).find("once aliases are unfolded"), std::string::npos);
}

TEST(TorchTitan, ReadsTheConfigurationAndTheDerivedBatchFromALog) {
  const std::string log =
      "[rank0]:[titan] 2025-11-25 19:44:50 - root - INFO - Running with configs: {\n"
      "[rank0]:  \"training\": {\"seq_len\": 2048, \"note\": \"a } brace\"},\n"
      "[rank1]:  something else\n"
      "[rank0]:  \"parallelism\": {\"tensor_parallel_degree\": 1}\n"
      "[rank0]:}\n"
      "[rank0]:[titan] INFO - Trainer is initialized with local batch size 8, global batch size "
      "64, "
      "gradient accumulation steps 1, sequence length 2048, total steps 10 (warmup 2)\n";
  const FinalValues values = parsed(log);
  EXPECT_EQ(values.framework, "torchtitan");
  EXPECT_EQ(values.parameters.at("training.seq_len"), 2048);
  EXPECT_EQ(values.parameters.at("parallelism.tensor_parallel_degree"), 1);
  EXPECT_EQ(values.parameters.at("derived.global_batch_size"), 64);
  EXPECT_EQ(values.parameters.at("derived.gradient_accumulation_steps"), 1);
}

constexpr const char* kDeepSpeed =
    "[2024-09-15 00:13:21,398] [INFO] [config.py:999:print] DeepSpeedEngine configuration:\n"
    "[2024-09-15 00:13:21,398] [INFO] [config.py:1003:print]   activation_checkpointing_config  {\n"
    "    \"profile\": false\n"
    "}\n"
    "[2024-09-15 00:13:21,398] [INFO] [config.py:1003:print]   bfloat16_enabled ............. "
    "True\n"
    "[2024-09-15 00:13:21,399] [INFO] [config.py:1003:print]   comms_config ................. "
    "<deepspeed.comm.config.DeepSpeedCommsConfig object at 0x2acdfaf0b250>\n"
    "[2024-09-15 00:13:21,400] [INFO] [config.py:1003:print]   optimizer_params ............. "
    "{'lr': 0.001, 'betas': [0.8, 0.999], 'eps': 1e-08}\n"
    "[2024-09-15 00:13:21,400] [INFO] [config.py:1003:print]   train_batch_size ............. 16\n"
    "[2024-09-15 00:13:21,400] [INFO] [config.py:1003:print]   train_micro_batch_size_per_gpu  4\n"
    "[2024-09-15 00:13:21,400] [INFO] [config.py:1003:print]   zero_config .................. "
    "stage=1 overlap_comm=False offload_optimizer=None reduce_bucket_size=500000000\n"
    "[2024-09-15 00:13:21,400] [INFO] [config.py:989:print_user_config]   json = {\n"
    "    \"gradient_accumulation_steps\": 1, \n"
    "    \"optimizer\": {\"type\": \"Adam\", \"params\": {\"lr\": 0.001, \"betas\": [0.8, 0.999], "
    "\"eps\": 1e-08}},\n"
    "    \"zero_optimization\": {\n"
    "        \"stage\": 1\n"
    "    }\n"
    "}\n";

TEST(DeepSpeed, TakesTheEnginesValuesOverTheGivenOnes) {
  const FinalValues values = parsed(kDeepSpeed);
  EXPECT_EQ(values.framework, "deepspeed");
  EXPECT_EQ(values.parameters.at("train_batch_size"), 16);  // inferred by the engine
  EXPECT_EQ(values.parameters.at("train_micro_batch_size_per_gpu"), 4);
  EXPECT_EQ(values.parameters.at("zero_optimization.stage"), 1);
  EXPECT_EQ(values.parameters.at("zero_optimization.overlap_comm"), false);
  EXPECT_EQ(values.parameters.at("bf16.enabled"), true);
  EXPECT_EQ(values.parameters.at("optimizer.type"), "Adam");
  EXPECT_EQ(values.parameters.at("optimizer.params.betas"), Json::array({0.8, 0.999}));
  EXPECT_EQ(values.parameters.at("activation_checkpointing_config.profile"), false);
  EXPECT_EQ(values.parameters.at("comms_config"),
            "<deepspeed.comm.config.DeepSpeedCommsConfig object>");
}

TEST(DeepSpeed, ReadsTheJsonAlone) {
  const FinalValues values =
      parsed(R"({"train_batch_size": 32, "zero_optimization": {"stage": 3}, "comm": {}})");
  EXPECT_EQ(values.parameters.at("zero_optimization.stage"), 3);
  EXPECT_EQ(values.parameters.at("comm"), Json::object());
}

TEST(GenericJson, KeepsNullAndMissingApartAndRefusesUnknownKeys) {
  const FinalValues values = parsed(
      R"({"framework": "megatron-core", "version": "0.16.0", "parameters": {"a": null, "model": {"b": 1}},
          "environment": {"NCCL_ALGO": "Ring"}, "facts": {"arch": 90}})");
  EXPECT_EQ(values.version, "0.16.0");
  EXPECT_TRUE(values.parameters.at("a").is_null());
  EXPECT_EQ(values.parameters.at("model.b"), 1);
  EXPECT_EQ(values.environment.at("NCCL_ALGO"), "Ring");
  EXPECT_EQ(values.facts.at("arch"), 90);
  EXPECT_NE(error_of(R"({"framework": "x", "parameters": {}, "enviroment": {}})")
                .find("nearest known: environment"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"framework": "x"})").find("\"parameters\" is missing"), std::string::npos);
  EXPECT_NE(error_of(R"({"framework": 3, "parameters": {}})").find("expected text"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"framework": "x", "parameters": {}, "environment": {"A": 1}})")
                .find("a.log.environment.A"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"framework": "x", "parameters": {"a": {"b": 1}, "a.b": 2}})")
                .find("stated twice"),
            std::string::npos);
}

TEST(Environment, ReadsTheNulFormOfProcAndAnObjectOfTexts) {
  using namespace std::string_literals;
  const FinalValues values = parsed("PATH=/bin\0NVTE_FLASH_ATTN=1\0EMPTY=\0"s);
  EXPECT_EQ(values.environment.size(), 3U);
  EXPECT_EQ(values.environment.at("NVTE_FLASH_ATTN"), "1");
  EXPECT_EQ(values.environment.at("EMPTY"), "");
  EXPECT_EQ(parsed(R"({"PATH": "/bin", "NVTE_FLASH_ATTN": "1", "EMPTY": ""})"), values);
  EXPECT_NE(error_of("A=1\0A=2\0"s).find("stated twice"), std::string::npos);
  EXPECT_NE(error_of("A=1\0B\0"s).find("NAME=VALUE"), std::string::npos);
}

TEST(BadInput, IsOneLineThatSaysWhatIsWrong) {
  EXPECT_NE(error_of("").find("is empty"), std::string::npos);
  EXPECT_NE(error_of("hello").find("no known form"), std::string::npos);
  EXPECT_NE(error_of("[1, 2").find("neither a known log nor YAML"), std::string::npos);
  EXPECT_NE(error_of("{\"a\": 1}").find("JSON of no known form"), std::string::npos);
  EXPECT_NE(error_of(std::string(300, '[')).find("YAML"), std::string::npos);
  EXPECT_NE(error_of("{\"a\":" + std::string(300, '[')).find("nested deeper"), std::string::npos);
  EXPECT_NE(error_of("model: {a: \"\xff\"}\ntrain: {}\n").find("a.log"), std::string::npos);
  std::string latin = kMegatron;
  latin.replace(latin.find("['p2p']"), 7, "caf\xe9\xe9\xe9\xe9");
  EXPECT_NE(error_of(latin).find("not UTF-8"), std::string::npos);
}

TEST(BadInput, AHugeFileIsRefusedBySize) {
  const std::string path = testing::TempDir() + "/huge.log";
  std::ofstream(path) << std::string(100'000'000, 'x');
  const auto run = read_run(path);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().text.find("larger than"), std::string::npos);
  std::filesystem::remove(path);
}

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/ranks." +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  void file(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(base::write_file_atomically(path_ + "/" + name, text).ok());
  }
  std::string path_;
};

TEST_F(Folder, ComparesEveryRankWithRankZeroButForItsOwnNames) {
  const std::string head = R"({"framework": "megatron-core", "parameters": {"lr": 1, "rank": )";
  file("rank0.json", head + R"(0}, "environment": {"RANK": "0", "NCCL_ALGO": "Ring"}})");
  file("rank1.json", head + R"(1}, "environment": {"RANK": "1", "NCCL_ALGO": "Ring"}})");
  file("rank10.json", head + R"(10}, "environment": {"RANK": "10", "NCCL_ALGO": "Tree"}})");
  const auto run = read_run(path_);
  ASSERT_TRUE(run.ok()) << run.error().text;
  EXPECT_EQ(run->ranks, 3);
  ASSERT_EQ(run->rank_differences.size(), 1U);
  EXPECT_EQ(run->rank_differences[0].rank, 10);
  EXPECT_EQ(run->rank_differences[0].difference.name, "env.NCCL_ALGO");
}

TEST_F(Folder, JoinsARanksParametersWithItsEnvironment) {
  using namespace std::string_literals;
  file("train.log", kMegatron);
  file("environ.0", "NCCL_ALGO=Ring\0RANK=0\0"s);
  file("environ.1", "NCCL_ALGO=Tree\0RANK=1\0"s);
  const auto run = read_run(path_);
  ASSERT_TRUE(run.ok()) << run.error().text;
  EXPECT_EQ(run->values.parameters.at("num_layers"), 28);
  EXPECT_EQ(run->values.environment.at("NCCL_ALGO"), "Ring");
  ASSERT_EQ(run->rank_differences.size(), 1U);  // rank 1 printed no arguments: not a difference
  EXPECT_EQ(run->rank_differences[0].difference.name, "env.NCCL_ALGO");
}

TEST_F(Folder, RefusesTwoFilesThatStateTheSameAndAFolderWithoutRankZero) {
  file("rank1.log", kMegatron);
  EXPECT_NE(read_run(path_).error().text.find("no file of rank 0"), std::string::npos);
  file("rank0.log", kMegatron);
  file("rank0.again.log", kMegatron);
  EXPECT_NE(read_run(path_).error().text.find("stated by another file"), std::string::npos);
}

TEST_F(Folder, NamesDataByContentWhereItIsThere) {
  file("a.model", "one");
  file(
      "values.json",
      R"({"framework": "megatron-core", "parameters": {"tokenizer_model": "a.model", "load": "/gone"}})");
  const auto run = read_run(path_ + "/values.json");
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run->values.facts.contains("content.tokenizer_model"));
  EXPECT_FALSE(run->values.facts.contains("content.load"));
}

}  // namespace
}  // namespace setpoint::recipe
