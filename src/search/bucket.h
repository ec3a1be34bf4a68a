// SPDX-License-Identifier: Apache-2.0
// Where candidates end. A candidate is a deployment that was priced (of disaggregated ones one for
// each decode point: prefill points are part of them, never counted themselves) or a layout of
// which none could be; each is counted in exactly one bucket or meets every bound.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace setpoint::search {

enum class Bucket : std::uint8_t {
  met,              // fits and keeps every bound
  framework,        // the framework has no way to say this cut, or cannot run these number formats
  divisibility,     // heads, experts or blocks do not divide
  missing_data,     // an operator has no table (data mode `measured`)
  out_of_memory,    // not even one request fits
  gpus,             // needs more GPUs than there are
  not_finite,       // the model gave no finite number
  ttft,             // over the bound on time to first token
  tpot,             // over the bound on time per output token
  request_latency,  // over the bound on the whole request
  no_partner,       // a decode worker beside which no prefill worker can run
};
inline constexpr std::array<std::string_view, 11> kBucketNames{
    "met",        "framework", "divisibility", "missing_data",    "out_of_memory", "gpus",
    "not_finite", "ttft",      "tpot",         "request_latency", "no_partner"};
inline constexpr std::size_t kBuckets = kBucketNames.size();

struct Tally {
  std::array<std::int64_t, kBuckets> count{};
  void add(Bucket b, std::int64_t n = 1) { count[static_cast<std::size_t>(b)] += n; }
  void add(const Tally& o) {
    for (std::size_t i = 0; i < kBuckets; ++i) count[i] += o.count[i];
  }
  std::int64_t of(Bucket b) const { return count[static_cast<std::size_t>(b)]; }
};

}  // namespace setpoint::search
