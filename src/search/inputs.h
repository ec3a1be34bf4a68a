// SPDX-License-Identifier: Apache-2.0
// Every number that a question may hold, with its range: flags, request lines and checks read these
// tables. Ranges are wide enough for anything that is built, narrow enough to keep products finite.
#pragma once

#include "base/fields.h"
#include "search/estimate.h"

namespace setpoint::search {

using base::Field;

inline constexpr double kMostTokens = 1e7;  // of one request; the longest contexts are 1e7
inline constexpr double kMostCount = 1e7;   // requests at once, batches
inline constexpr double kMostMs = 1e9;
inline constexpr double kMostWidth = kMostGpus;

inline constexpr std::array kWorkloadFields{
    Field<Workload>{"isl", &Workload::isl, 1, kMostTokens, "TOKENS", "Tokens in"},
    Field<Workload>{"osl", &Workload::osl, 1, kMostTokens, "TOKENS", "Tokens out"},
    Field<Workload>{"prefix", &Workload::prefix, 0, kMostTokens, "TOKENS",
                    "Of the tokens in, already cached"},
    Field<Workload>{"nextn", &Workload::nextn, 0, 16, "N", "Draft tokens a step"},
    Field<Workload>{"nextn_accepted", &Workload::nextn_accepted, 0, 16, "X",
                    "Mean drafts accepted"},
};

// Alpha beyond this: one expert takes every token.
inline constexpr std::array kSubjectFields{
    Field<Subject>{"alpha", &Subject::alpha, 0, 10, "A", "MoE load skew; default: the family's"},
};

inline constexpr std::array kSlaFields{
    Field<Sla>{"ttft", &Sla::ttft, 0.001, kMostMs, "MS", "Bound on time to first token"},
    Field<Sla>{"tpot", &Sla::tpot, 0.001, kMostMs, "MS", "Bound on time per output token"},
    Field<Sla>{"request_latency", &Sla::request_latency, 0.001, kMostMs, "MS",
               "Bound on the whole request"},
};

// A target that is not given is 0, outside of every range.
inline constexpr std::array kTargetFields{
    Field<Target>{"gpus", &Target::gpus, 1, kMostWidth, "N",
                  "GPUs to use; or, for the fewest that serve it:"},
    Field<Target>{"target_rate", &Target::request_rate, 1e-6, 1e9, "R", "requests/s to serve"},
    Field<Target>{"target_concurrency", &Target::concurrency, 1, kMostCount, "C",
                  "requests in flight"},
};

inline constexpr std::array kWorkerFields{
    Field<WorkerSpec>{"tp", &WorkerSpec::tp, 1, kMostWidth, "N", "Tensor parallel"},
    Field<WorkerSpec>{"pp", &WorkerSpec::pp, 1, kMostWidth, "N", "Pipeline parallel"},
    Field<WorkerSpec>{"dp", &WorkerSpec::dp, 1, kMostWidth, "N", "Data-parallel attention"},
    Field<WorkerSpec>{"cp", &WorkerSpec::cp, 1, kMostWidth, "N", "Context parallel"},
    Field<WorkerSpec>{"moe_ep", &WorkerSpec::moe_ep, 1, kMostWidth, "N",
                      "Expert parallel; missing: follows from --moe-tp", "ep"},
    Field<WorkerSpec>{"moe_tp", &WorkerSpec::moe_tp, 1, kMostWidth, "N",
                      "Cut of each expert; missing: from --ep"},
    Field<WorkerSpec>{"batch", &WorkerSpec::batch, 1, kMostCount, "N", "Requests at once per rank"},
};
// Only of the pools of a disaggregated deployment.
inline constexpr std::array kPoolFields{
    Field<WorkerSpec>{"workers", &WorkerSpec::workers, 1, kMostWidth, "N", "Workers a replica"},
};

inline constexpr std::array kRequestFields{
    Field<EstimateRequest>{"concurrency", &EstimateRequest::concurrency, 1, kMostCount, "C",
                           "Instead of --batch: requests in flight over the deployment"},
    Field<EstimateRequest>{"gpus", &EstimateRequest::gpus, 1, kMostWidth, "N",
                           "Count rates per GPU over these"},
};

inline constexpr std::array kEngineFields{
    Field<EngineSettings>{"chunk_tokens", &EngineSettings::chunk_tokens, 1, kMostTokens, "N",
                          "Prompt tokens of one step"},
    Field<EngineSettings>{"max_num_tokens", &EngineSettings::max_num_tokens, 1, kMostTokens, "N",
                          "All tokens of one step"},
    Field<EngineSettings>{"max_num_seqs", &EngineSettings::max_num_seqs, 1, kMostCount, "N",
                          "Requests at once per rank"},
    Field<EngineSettings>{"memory_fraction", &EngineSettings::memory_fraction, 0.01, 1, "X",
                          "Share of GPU memory"},
    Field<EngineSettings>{"kv_tokens", &EngineSettings::kv_tokens, 1, 1e12, "N",
                          "The engine's own KV pool figure, per rank"},
    Field<EngineSettings>{"poll_steps", &EngineSettings::poll_steps, 1, kMostCount, "N",
                          "Steps between looks at the queue"},
};

inline constexpr std::array kLoadFields{
    Field<Load>{"waves", &Load::waves, 1, kMostCount, "N", "Requests per client"},
    Field<Load>{"len_ratio", &Load::len_ratio, 0.001, 1000, "X", "Mean true over nominal length"},
    Field<Load>{"rate", &Load::rate, 1e-9, 1e9, "R", "Requests per second"},
};

// Numbers that no deployment can have are refused before anything is loaded.
Result<void> check(const Subject& subject);
Result<void> check(const SearchRequest& request);

}  // namespace setpoint::search
