// SPDX-License-Identifier: Apache-2.0
// Every empirical constant of the serving formulas: one table, each with its unit and where it
// comes from. Correction against measured runs changes values here and nowhere else.
// "paper" = AIConfigurator (arXiv 2601.06288); "0.12.0" = what its release 0.12.0 does.
#pragma once

#include <array>
#include <string_view>

namespace setpoint::serve {

struct Constant {
  std::string_view name;
  double value;
  std::string_view unit;
  std::string_view origin;
};

// Waiting for the first token, law "steps": factor base + slope x (T - offset), at most ceiling; T
// = steps that prefill one whole batch.
inline constexpr Constant kQueueBase{"queue_base", 2, "1", "paper, Algorithm 2, F_corr"};
inline constexpr Constant kQueueSlope{"queue_slope", 1.0 / 20, "1/step",
                                      "paper, Algorithm 2, F_corr"};
inline constexpr Constant kQueueCeiling{"queue_ceiling", 4, "1", "paper, Algorithm 2, F_corr"};
inline constexpr Constant kQueueOffset{"queue_offset", 3, "steps", "paper, Algorithm 2, F_corr"};
// Mixed steps that a request's own tokens do not meet: it is prefilled in them.
inline constexpr Constant kMixedOffset{"mixed_offset", 3, "steps",
                                       "paper, Algorithm 2, 3-step offset"};
// Law "batch": factor 1 + log2(b) / octaves, at most ceiling; beside it, launch time per layer.
inline constexpr Constant kBatchQueueOctaves{"batch_queue_octaves", 8, "octaves",
                                             "0.12.0, vLLM first-token fit"};
inline constexpr Constant kBatchQueueCeiling{"batch_queue_ceiling", 2, "1",
                                             "0.12.0, vLLM first-token fit"};
inline constexpr Constant kPrefillLaunch{"prefill_launch", 0.8, "ms/layer",
                                         "0.12.0, vLLM first-token fit"};
// Disaggregated serving.
inline constexpr Constant kPrefillLatency{"prefill_latency", 1.1, "1",
                                          "0.12.0, prefill workers' latency correction"};
inline constexpr Constant kDecodeLatency{"decode_latency", 1.08, "1",
                                         "0.12.0, decode workers' latency correction"};
inline constexpr Constant kFirstToken{"first_token", 1.8, "1", "paper, Algorithm 3, beta_TTFT"};
// With the clients given, waiting is computed and this stands for beta_TTFT: routing, asking for
// the KV and being admitted by a decode worker.
inline constexpr Constant kHandOver{"hand_over", 290, "ms",
                                    "docs/accuracy-iteration.md, measured deployments"};
inline constexpr Constant kPrefillRate{"prefill_rate", 0.9, "1", "paper, Algorithm 3, alpha_pre"};
inline constexpr Constant kDecodeRate{"decode_rate", 0.92, "1", "paper, Algorithm 3, alpha_dec"};

inline constexpr std::array kConstants{
    kQueueBase,         kQueueSlope,        kQueueCeiling,  kQueueOffset,    kMixedOffset,
    kBatchQueueOctaves, kBatchQueueCeiling, kPrefillLaunch, kPrefillLatency, kDecodeLatency,
    kFirstToken,        kHandOver,          kPrefillRate,   kDecodeRate};

}  // namespace setpoint::serve
