// SPDX-License-Identifier: Apache-2.0
#include "recipe/canonical.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/canonical.h"
#include "base/file.h"
#include "base/sha256.h"

namespace setpoint::recipe {
namespace {

using base::Json;

struct Spelling {
  std::string_view written, canonical;
};
constexpr std::array kNumberFormats{
    Spelling{"bfloat16", "bf16"}, Spelling{"float16", "fp16"}, Spelling{"half", "fp16"},
    Spelling{"float32", "fp32"},  Spelling{"float64", "fp64"},
};

// Is `word` one of the words of the list?
bool among(std::string_view list, std::string_view word) {
  if (word.find(' ') != std::string_view::npos) return false;
  for (std::size_t at = 0; (at = list.find(word, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

// Classes of enumerations that frameworks print as Class.member. A closed list: "web.json" must not
// be taken for one.
constexpr std::string_view kEnumerations =
    "AttnBackend AttnMaskType ModelType LayerType CudaGraphScope CudaGraphModule RerunMode "
    "Fp8Recipe "
    "Fp4Recipe OffloadDeviceEnum ZeroStageEnum";

std::string canonical_text(const std::string& text) {
  std::string_view name = text;
  if (name.starts_with('<')) name = name.substr(1, name.find(':') - 1);  // <AttnBackend.auto: 5>
  const std::size_t dot = std::min(name.find('.'), name.size());
  if (dot < name.size() && among(kEnumerations, name.substr(0, dot))) {
    return std::string(name.substr(dot + 1));
  }
  constexpr std::string_view kTorch = "torch.";
  if (name.starts_with(kTorch)) name.remove_prefix(kTorch.size());
  for (const Spelling& row : kNumberFormats) {
    if (row.written == name) return std::string(row.canonical);
  }
  return text;
}

// Names of a rank, a node or a job. Of the environment the launchers' own (torchrun, Slurm, Open
// MPI, PMI) and what a shell sets anew.
constexpr std::string_view kPerRank = "rank local_rank global_rank dist.local_rank";
constexpr std::string_view kPerRankEnvironment =
    "RANK LOCAL_RANK GROUP_RANK ROLE_RANK NODE_RANK MASTER_ADDR MASTER_PORT HOSTNAME HOST "
    "TORCHELASTIC_RUN_ID TORCHELASTIC_ERROR_FILE TORCHELASTIC_RESTART_COUNT SLURM_PROCID "
    "SLURM_LOCALID SLURM_NODEID SLURM_JOB_ID SLURM_JOBID SLURM_STEP_ID SLURM_STEPID SLURM_TASK_PID "
    "SLURMD_NODENAME SLURM_GTIDS SLURM_TOPOLOGY_ADDR SLURM_JOB_NODELIST SLURM_NODELIST "
    "SLURM_STEP_NODELIST SLURM_SRUN_COMM_PORT SLURM_SRUN_COMM_HOST SLURM_STEP_LAUNCHER_PORT "
    "SLURM_LAUNCH_NODE_IPADDR OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK "
    "OMPI_COMM_WORLD_NODE_RANK PMI_RANK PMIX_RANK PMI_FD CUDA_VISIBLE_DEVICES PWD OLDPWD SHLVL _ "
    "SSH_CLIENT SSH_CONNECTION SSH_TTY INVOCATION_ID";

// Last components of names whose value points to data, a tokenizer or a checkpoint, in the four
// frameworks' configurations.
constexpr std::string_view kContent =
    "data_path train_data_path valid_data_path test_data_path data_args_path "
    "per_split_data_args_path dataset_path dataset_root blend vocab_file merge_file "
    "tokenizer_model tokenizer_path hf_assets_path load load_path pretrained_checkpoint "
    "initial_load_path";

constexpr std::uintmax_t kMostContent = std::uintmax_t{1} << 30;
constexpr std::size_t kMostFiles = 10'000;

// Of a folder: over the digests of its files under their relative names.
std::optional<std::string> digest_of(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code ec;
  std::map<std::string, fs::path> files;
  if (fs::is_regular_file(path, ec)) files[""] = path;
  if (fs::is_directory(path, ec)) {
    for (const auto& entry : fs::recursive_directory_iterator(path, ec)) {
      if (files.size() > kMostFiles) return std::nullopt;
      if (entry.is_regular_file(ec)) files[fs::relative(entry.path(), path, ec).string()] = entry;
    }
  }
  if (files.empty() || ec) return std::nullopt;
  std::uintmax_t bytes = 0;
  for (const auto& [name, file] : files) bytes += fs::file_size(file, ec);
  if (ec || bytes > kMostContent) return std::nullopt;
  std::string list;
  for (const auto& [name, file] : files) {
    const auto content = base::read_file(file, kMostContent);
    if (!content) return std::nullopt;
    list += base::sha256_hex(*content) + " " + name + "\n";
  }
  return base::sha256_hex(list);
}

}  // namespace

Json canonical_value(const Json& value) {
  if (value.is_string()) return canonical_text(value.get_ref<const std::string&>());
  if (value.is_number_float()) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    const double number = value.get<double>();
    if (number == std::floor(number) && std::fabs(number) <= kExact) {
      return static_cast<std::int64_t>(number);
    }
    return value;
  }
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& item : value) out.push_back(canonical_value(item));
    return out;
  }
  if (value.is_object()) {
    std::map<std::string, Json> sorted;
    for (const auto& [key, member] : value.items()) sorted[key] = canonical_value(member);
    return Json(sorted);
  }
  return value;
}

FinalValues canonical(const FinalValues& values) {
  FinalValues out = values;
  std::erase_if(out.parameters, [](const auto& item) { return per_rank(item.first); });
  std::erase_if(out.environment, [](const auto& item) { return per_rank("env." + item.first); });
  for (auto& [name, value] : out.parameters) value = canonical_value(value);
  return out;
}

bool per_rank(std::string_view name) {
  constexpr std::string_view kPrefix = "env.";
  if (name.starts_with(kPrefix)) return among(kPerRankEnvironment, name.substr(kPrefix.size()));
  return among(kPerRank, name);
}

bool names_content(std::string_view name) {
  return among(kContent, name.substr(name.rfind('.') + 1));
}

void add_content_facts(FinalValues& values, const std::filesystem::path& beside) {
  for (const auto& [name, value] : values.parameters) {
    if (!names_content(name) || values.facts.contains("content." + name)) continue;
    Json digests = Json::array();
    const Json items = value.is_array() ? value : Json::array({value});
    for (const Json& item : items) {
      const auto digest = item.is_string() && !item.get_ref<const std::string&>().empty()
                              ? digest_of(beside / item.get<std::string>())
                              : std::nullopt;
      digests.push_back(digest ? Json("sha256:" + *digest) : item);
    }
    if (digests != items) values.facts["content." + name] = digests;
  }
}

Result<std::string> effective_hash(const FinalValues& values, const Noise& noise) {
  const FinalValues plain = canonical(values);
  Json document{{"framework", plain.framework}, {"version", plain.version}};
  document["parameters"] = Json::object();
  document["environment"] = Json::object();
  for (const auto& [name, value] : plain.parameters) {
    if (noise(name)) continue;
    const auto content = plain.facts.find("content." + name);
    document["parameters"][name] = content == plain.facts.end() ? value : content->second;
  }
  for (const auto& [name, value] : plain.environment) {
    if (!noise("env." + name)) document["environment"][name] = value;
  }
  SP_TRY(const std::string text, base::canonical_json(document));
  return base::sha256_hex(text);
}

}  // namespace setpoint::recipe
