// SPDX-License-Identifier: Apache-2.0
#include "search/grid.h"

#include <algorithm>

namespace setpoint::search {
namespace {

constexpr std::int64_t kEveryBatchTo = 64;
constexpr std::int64_t kPerOctave = 32;
constexpr std::int64_t kMostPrefillBatch = 64;
constexpr std::int64_t kMostPrefillTokens = 65536;  // of one prefill step of several prompts
constexpr std::int64_t kFineChunk = 512;
constexpr std::int64_t kFineChunkTo = 8192;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

void sort_unique(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::vector<std::int64_t> batch_grid(std::int64_t most) {
  most = std::min(most, kMostBatch);
  std::vector<std::int64_t> out;
  for (std::int64_t b = 1; b <= std::min(most, kEveryBatchTo); ++b) out.push_back(b);
  for (std::int64_t octave = kEveryBatchTo; octave < most; octave *= 2) {
    for (std::int64_t i = 1; i <= kPerOctave; ++i) {
      const std::int64_t b = octave + i * (octave / kPerOctave);
      if (b <= most) out.push_back(b);
    }
  }
  if (most > 0) out.push_back(most);
  sort_unique(out);
  return out;
}

std::vector<std::int64_t> prefill_batch_grid(const Workload& w) {
  std::vector<std::int64_t> out;
  for (std::int64_t b : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64}) {
    if (b == 1 || (b <= kMostPrefillBatch && b * w.new_tokens() <= kMostPrefillTokens)) {
      out.push_back(b);
    }
  }
  return out;
}

std::vector<std::int64_t> chunk_grid(const Workload& w, std::int64_t default_budget,
                                     bool chunked_prefill) {
  const std::int64_t most = std::max(kFineChunkTo, 2 * w.isl);
  const std::int64_t coarse = std::max<std::int64_t>(2 * kFineChunk, most / 8);
  std::vector<std::int64_t> out{w.new_tokens(), w.isl, 2 * w.isl, default_budget};
  for (std::int64_t c = kFineChunk; c <= kFineChunkTo; c += kFineChunk) out.push_back(c);
  for (std::int64_t c = kFineChunkTo + coarse; c <= most; c += coarse) out.push_back(c);
  if (!chunked_prefill) {
    for (std::int64_t& c : out) c = ceil_div(c, w.new_tokens()) * w.new_tokens();
  }
  sort_unique(out);
  return out;
}

bool chunk_is_distinct(std::int64_t chunk, std::int64_t batch, const Workload& w) {
  return ceil_div(chunk, w.new_tokens()) <= batch;
}

}  // namespace setpoint::search
