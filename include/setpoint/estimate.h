// SPDX-License-Identifier: Apache-2.0
// What a deployment is predicted to do. Field names are those of the JSON CONFIG (docs/cli.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "setpoint/model.h"
#include "setpoint/units.h"

namespace setpoint {

enum class Mode : std::uint8_t { agg, disagg, static_batch };
inline constexpr std::array<std::string_view, 3> kModeNames{"agg", "disagg", "static"};
constexpr std::optional<Mode> mode_named(std::string_view name) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == name) return static_cast<Mode>(i);
  }
  return std::nullopt;
}
enum class Role : std::uint8_t { mixed, prefill, decode };
inline constexpr std::array<std::string_view, 3> kRoleNames{"mixed", "prefill", "decode"};

// Memory of the fullest GPU of a worker.
struct MemoryUse {
  Bytes weights{}, activations{}, kv{}, collective{}, context{};
  Bytes capacity{};
  Bytes total() const { return weights + activations + kv + collective + context; }
  bool operator==(const MemoryUse&) const = default;
};

// One kind of worker of a deployment.
struct Worker {
  Role role = Role::mixed;
  std::int64_t count = 1;  // in one replica
  std::string system;
  model::Shard shard;
  model::Precision precision;
  std::int64_t batch = 1;           // requests at once per data-parallel rank
  std::int64_t max_num_tokens = 0;  // token budget of one step, per rank
  MemoryUse memory;
  std::int64_t kv_tokens = 0;  // KV pool of one rank, in tokens
  bool operator==(const Worker&) const = default;
};

// Numbers of one operating point. All rates count output tokens over every GPU of the replica;
// 0 tpot means "no second token" (osl 1).
struct Performance {
  Ms ttft{}, tpot{}, request_latency{};
  double concurrency = 0;                       // requests in flight, one replica
  double requests_per_s = 0, tokens_per_s = 0;  // one replica
  std::array<double, 6> evidence{};             // shares of step time by perfdb::Source, sum 1
  bool operator==(const Performance&) const = default;
};

struct Estimate {
  Mode mode = Mode::agg;
  std::string framework, framework_version;
  std::vector<Worker> workers;
  Performance performance;  // of one replica
  std::int64_t gpus_per_replica = 0;
  std::int64_t replicas = 1;
  std::int64_t gpus_asked = 0;  // what tokens_per_s_per_gpu is counted over
  std::vector<std::string> warnings;

  std::int64_t gpus_used() const { return gpus_per_replica * replicas; }
  double tokens_per_s_per_gpu() const {
    if (gpus_asked <= 0) return 0;
    return performance.tokens_per_s * static_cast<double>(replicas) /
           static_cast<double>(gpus_asked);
  }
  double tokens_per_s_per_user() const {  // 0 when there is no tpot
    return performance.tpot > Ms(0) ? kMsPerS / performance.tpot.value() : 0;
  }
  bool operator==(const Estimate&) const = default;
};

}  // namespace setpoint
