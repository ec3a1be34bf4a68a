// SPDX-License-Identifier: Apache-2.0
// Which batches and which chunk sizes a layout is tried with.
#pragma once

#include <cstdint>
#include <vector>

#include "setpoint/workload.h"

namespace setpoint::search {

// Largest number of requests per rank that is tried where memory would allow more: the measured
// tables of attention end at 2,048 requests and schedulers at about as many.
inline constexpr std::int64_t kMostBatch = 4096;

// Every batch to 64, then 32 an octave (1.6 to 3 % apart), and `most` itself, which memory bounds.
std::vector<std::int64_t> batch_grid(std::int64_t most);

// Batches of a prefill worker: few, since one prompt usually fills the GPU.
std::vector<std::int64_t> prefill_batch_grid(const Workload& w);

// Prompt tokens of one step: the framework's default, steps of 512 to 8,192, coarser to twice the
// prompt, the prompt and its double. Without chunked prefill whole prompts only.
std::vector<std::int64_t> chunk_grid(const Workload& w, std::int64_t default_budget,
                                     bool chunked_prefill);

// A budget for more prompts than there are requests is the same point as a smaller one.
bool chunk_is_distinct(std::int64_t chunk, std::int64_t batch, const Workload& w);

}  // namespace setpoint::search
