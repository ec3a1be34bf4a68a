// SPDX-License-Identifier: Apache-2.0
// Rate matching of a prefill pool with a decode pool: how many workers of each.
#pragma once

#include <cstdint>
#include <optional>

namespace setpoint::search {

// One worker's rate (requests/s, the pool's own losses included) and GPUs, for both kinds.
struct PoolPair {
  double prefill_rate = 0, decode_rate = 0;
  std::int64_t prefill_gpus = 1, decode_gpus = 1;
};

struct Match {
  std::int64_t prefill = 0, decode = 0;  // workers
  double rate = 0;                       // requests/s: the slower pool's
  bool operator==(const Match&) const = default;
};

// The x prefill and y decode workers with x * prefill_gpus + y * decode_gpus <= gpus whose slower
// pool is fastest, over all x and y; of equals the fewest workers. Nothing when one of each does
// not fit.
std::optional<Match> match_gpus(const PoolPair& pair, std::int64_t gpus);

// The fewest workers of each kind that reach `rate`.
std::optional<Match> match_rate(const PoolPair& pair, double rate, std::int64_t most_gpus);

// `decode` workers are given; the fewest prefill workers that keep them busy.
std::optional<Match> match_decode(const PoolPair& pair, std::int64_t decode,
                                  std::int64_t most_gpus);

}  // namespace setpoint::search
