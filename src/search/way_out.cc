// SPDX-License-Identifier: Apache-2.0
#include "search/way_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "model/ids.h"
#include "search/label.h"
#include "search/space.h"

namespace setpoint::search {
namespace {

constexpr std::int64_t kMostTried = 64;  // GPUs of one worker

struct Fit {
  std::optional<model::Shard> shard;  // the smallest in which one request fits
  std::int64_t longest = 0;           // tokens of one request, over all shards tried
};

Fit try_shards(const Backend& b, const Workload& w, Use use, std::int64_t gpus) {
  Fit fit;
  const SpaceLimits limits = space_limits(*b.model, b.precision, b.system, gpus);
  for (const model::Shard& shard : list_shards(*b.model, b.facts, limits)) {
    const Built built = build(b, shard, w.nextn);
    if (!built.engine) continue;
    const std::int64_t chunk = std::min(default_chunk(*built.engine), w.new_tokens());
    if (fits(*built.engine, use, w, 1, chunk)) {
      fit.shard = shard;
      return fit;
    }
    const auto question = memory_question(use, w, 1, chunk);
    fit.longest = std::max(fit.longest, serve::longest_request(*built.engine, question));
  }
  return fit;
}

}  // namespace

std::string ways_out(Loader& loader, const Subject& subject, const std::string& framework,
                     const std::string& system, Use use, std::int64_t gpus) {
  const Workload& w = subject.workload;
  std::vector<std::string> ways;
  const auto fit_of = [&](const Subject& changed, std::int64_t most) {
    const auto backend = loader.load(changed, framework, system);
    return backend ? try_shards(*backend, w, use, most) : Fit{};
  };
  if (const Fit fit = fit_of(subject, kMostTried); fit.shard) {
    ways.push_back(
        fmt::format("{} ({})", base::count_of(fit.shard->gpus(), "GPU"), label(*fit.shard)));
  }
  for (const char* precision : {"fp8", "fp4", "int4"}) {
    if (!model::shipped_checkpoint(subject.model, precision)) continue;
    Subject smaller = subject;
    smaller.precision = precision;
    if (smaller.precision == subject.precision || !fit_of(smaller, gpus).shard) continue;
    ways.push_back(fmt::format("--precision {}", precision));
    break;
  }
  Subject small_kv = subject;
  small_kv.quant.push_back({"kv", "fp8"});
  if (fit_of(small_kv, gpus).shard && !fit_of(subject, gpus).shard) {
    ways.emplace_back("--quant kv=fp8");
  }
  if (const Fit fit = fit_of(subject, gpus); !fit.shard && fit.longest > w.osl) {
    ways.push_back(fmt::format("requests of at most {} tokens", base::grouped(fit.longest)));
  }
  return ways.empty() ? "" : "; would fit: " + base::join(ways);
}

}  // namespace setpoint::search
