// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "cli/command.h"

namespace setpoint::cli {
namespace {

constexpr std::array kCommands{
    Command{Face::aiconf, "search", "Find the best configurations for a model on given GPUs",
            "aiconf search --model Qwen/Qwen3-32B-FP8 --system h200_sxm --gpus 32 --tpot 30",
            &search_command},
    Command{Face::aiconf, "estimate", "Predict one given configuration",
            "aiconf estimate --model Qwen/Qwen3-32B-FP8 --system h200_sxm --tp 2 --batch 64",
            &estimate_command},
    Command{Face::aiconf, "generate", "Write the launch files of one configuration",
            "aiconf generate --from DIR/result.json --target k8s --out launch", &generate_command},
    Command{Face::aiconf, "support", "Show what answers about a model on a GPU would rest on",
            "aiconf support --model Qwen/Qwen3-32B-FP8 --system h200_sxm", &support_command},
    Command{Face::aiconf, "models", "List the models whose description is shipped",
            "aiconf models --json", &models_command},
    Command{Face::aiconf, "systems", "List the GPU systems and their facts",
            "aiconf systems --json", &systems_command},
    Command{Face::aiconf, "db import", "Import published tables or one's own CSV",
            "aiconf db import my_gemms.csv", &db_import_command},
    Command{Face::aiconf, "db list", "List the imported tables", "aiconf db list --system h200_sxm",
            &db_list_command},
    Command{Face::aiconf, "db show", "Show measured points as rows",
            "aiconf db show gemm --system h200_sxm --framework vllm --where n=4096",
            &db_show_command},
    Command{
        Face::aiconf, "db query", "Answer one operator, or a file of them",
        "aiconf db query gemm n=4096 k=4096 quant=fp8 tokens=64 --system h200_sxm --framework vllm",
        &db_query_command},
    Command{Face::aiconf, "db verify", "Check the database: whole, gaps, contradictions",
            "aiconf db verify", &db_verify_command},
    Command{Face::attune, "register check",
            "Count a register's entries; find what contradicts itself",
            "attune register check megatron-core", &register_check_command},
    Command{Face::attune, "register show", "Show what a register says about parameters",
            "attune register show megatron-core tensor_model_parallel_size",
            &register_show_command},
    Command{Face::attune, "register diff", "Compare two versions of a register by name",
            "attune register diff old/megatron-core.json megatron-core", &register_diff_command},
    Command{Face::attune, "ledger verify",
            "Check a campaign's ledger: unchanged, complete, adding up",
            "attune ledger verify glm45-b200", &ledger_verify_command},
    Command{Face::attune, "ledger show", "Show the records of a campaign",
            "attune ledger show glm45-b200 --kind charge --last 20", &ledger_show_command},
    Command{Face::attune, "ledger export", "Write every launch of a campaign as CSV",
            "attune ledger export glm45-b200 > trials.csv", &ledger_export_command},
    Command{Face::attune, "budget", "Show what a campaign spent, reserved and has left",
            "attune budget glm45-b200", &budget_command},
    Command{Face::attune, "gate", "Judge whether a changed recipe trains the same",
            "attune gate --original base.log --candidate tp1.log", &gate_command},
    Command{Face::attune, "profile", "Split the time of training steps by what it was spent on",
            "attune profile rank0.pt.trace.json.gz --steps", &profile_command},
    Command{Face::aiconf, "completion", "Print a shell completion script",
            "source <(aiconf completion bash)", &completion_command},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

void declare_common(Flags& flags, Common& common) {
  flags.group("Every command");
  flags.toggle("--json", common.json, "One JSON document on standard output, nothing else there");
  flags.toggle("--quiet", common.quiet, "No notes on standard error", 'q');
  flags.counter("--verbose", common.verbose, "More notes on standard error", 'v');
  flags.toggle("--help", common.help, "Print this help and exit", 'h');
}

}  // namespace setpoint::cli
