// SPDX-License-Identifier: Apache-2.0
#include "search/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"

namespace setpoint::search {
namespace {

// A pool that uses less of its rate than this idles for a reason worth telling.
constexpr double kIdleBelow = 0.9;

struct Bound {
  Bucket bucket;
  const char* name;
  double limit_ms, reached_ms;
  double ratio() const { return reached_ms / limit_ms; }
};

// The bound that is broken worst, or comes nearest to it.
std::optional<Bound> worst_bound(const Sla& sla, double ttft, double tpot, double latency) {
  std::optional<Bound> worst;
  const auto add = [&](Bucket bucket, const char* name, const std::optional<Ms>& limit, double ms) {
    if (!limit) return;
    const Bound bound{bucket, name, limit->value(), ms};
    if (!worst || bound.ratio() > worst->ratio()) worst = bound;
  };
  add(Bucket::ttft, "TTFT", sla.ttft, ttft);
  add(Bucket::tpot, "TPOT", sla.tpot, tpot);
  add(Bucket::request_latency, "request latency", sla.request_latency, latency);
  return worst;
}

// Which pool of a disaggregated deployment sets its rate.
std::string bottleneck(const ModeBest& mode) {
  const Part &prefill = mode.candidate.parts[0], &decode = mode.candidate.parts[1];
  const bool prefill_slower = prefill.load >= decode.load;
  const double used = std::min(prefill.load, decode.load);
  std::string text =
      fmt::format("the {} pool sets its rate", prefill_slower ? "prefill" : "decode");
  if (used < kIdleBelow) {
    text += fmt::format(" while {:.0f} % of the {} pool idles", (1 - used) * 100,
                        prefill_slower ? "decode" : "prefill");
  }
  const std::int64_t unused = mode.estimate.gpus_asked - mode.estimate.gpus_used();
  if (unused > 0) {
    text += fmt::format(" and {} {} unused", base::count_of(unused, "GPU"),
                        unused == 1 ? "stays" : "stay");
  }
  return text;
}

std::string holds_back(const ModeBest& mode) {
  return mode.candidate.mode == Mode::disagg ? bottleneck(mode) : mode.limit;
}

std::string against(const ModeBest& best, const ModeBest& other) {
  const double a = best.estimate.tokens_per_s_per_gpu(), b = other.estimate.tokens_per_s_per_gpu();
  const auto name = [](const ModeBest& m) { return kModeNames[std::size_t(m.candidate.mode)]; };
  std::string text =
      fmt::format("{} yields {:.1f} tokens/s/GPU, {} {:.1f}", name(best), a, name(other), b);
  if (b > 0) text += fmt::format(" ({:.2f}x)", a / b);
  return text + fmt::format("; {}: {}", name(other), holds_back(other));
}

}  // namespace

std::string what_limits(const Candidate& c, const std::vector<PoolPoint>& points,
                        const SearchRequest& request) {
  const bool disagg = c.mode == Mode::disagg;
  const Part& part = c.parts[disagg ? 1 : 0];
  const auto own = std::find_if(points.begin(), points.end(), [&](const PoolPoint& p) {
    return p.batch == part.batch && p.chunk == part.chunk;
  });
  if (own == points.end()) return "";
  const std::string of = disagg ? "decode batch" : "batch";
  std::optional<Bound> nearest;  // of the faster points the one that breaks the bounds least
  std::int64_t faster = 0, largest = 0, batch = 0;
  for (const PoolPoint& p : points) {
    largest = std::max<std::int64_t>(largest, p.batch);
    if (!p.finite() || p.requests_per_s <= own->requests_per_s) continue;
    ++faster;
    const double ttft = disagg ? c.ttft_ms : p.ttft_ms;
    const auto bound = worst_bound(request.sla, ttft, p.tpot_ms, ttft + p.latency_ms - p.ttft_ms);
    if (!bound || (nearest && nearest->ratio() <= bound->ratio())) continue;
    nearest = bound;
    batch = p.batch;
  }
  if (faster == 0 && part.batch == largest) {
    return fmt::format("{} {} is the largest that fits in memory", of, part.batch);
  }
  if (faster == 0) {
    return fmt::format("no bound: {} {} is where the throughput of this layout peaks", of,
                       part.batch);
  }
  if (!nearest || nearest->ratio() <= 1) {  // only beside a partner: both pools must match
    return fmt::format("{} {} matches the prefill workers on these GPUs", of, part.batch);
  }
  return fmt::format(
      "{} {} is held by the {} bound: the nearest faster point (batch {}) has "
      "{:.4g} of {:.4g} ms",
      of, part.batch, nearest->name, batch, nearest->reached_ms, nearest->limit_ms);
}

std::vector<std::string> explain(const std::vector<ModeBest>& bests) {
  std::vector<std::string> out;
  for (const ModeBest& mode : bests) {
    if (&mode != &bests[0]) {
      out.push_back(against(bests[0], mode));
      continue;
    }
    if (mode.candidate.mode == Mode::disagg) out.push_back(bottleneck(mode));
    if (!mode.limit.empty()) out.push_back(mode.limit);
  }
  return out;
}

NoAnswer explain_none(const SearchRequest& request, const Reach& reach, const Tally& tally,
                      const std::vector<GroupResult>& results) {
  NoAnswer out;
  const auto reached = [](double ms) {
    return std::isfinite(ms) ? std::optional(Ms(ms)) : std::nullopt;
  };
  out.best_ttft = reached(reach.ttft_ms);
  out.best_tpot = reached(reach.tpot_ms);
  out.best_request_latency = reached(reach.latency_ms);
  const auto worst = worst_bound(request.sla, reach.ttft_ms, reach.tpot_ms, reach.latency_ms);
  if (out.best_request_latency && worst && worst->ratio() > 1) {
    out.binding_limit = kBucketNames[std::size_t(worst->bucket)];
    out.text =
        fmt::format("the lowest {} that any configuration reaches is {:.4g} ms, the bound {:.4g}",
                    worst->name, worst->reached_ms, worst->limit_ms);
    return out;
  }
  // Each bound can be kept alone, or nothing runs at all: what stops the most candidates.
  std::size_t most = std::size_t(Bucket::out_of_memory);
  for (std::size_t i = 1; i < kBuckets; ++i) {
    const bool of_a_point = i >= std::size_t(Bucket::gpus);
    if (of_a_point == out.best_ttft.has_value() && tally.count[i] > tally.count[most]) most = i;
  }
  out.binding_limit = kBucketNames[most];
  out.text = fmt::format("every bound can be kept alone but not together; {} stops the most",
                         out.binding_limit);
  // The last layout is the widest: if even that one is refused, its reason tells most.
  const auto refused = std::find_if(results.rbegin(), results.rend(), [&](const GroupResult& r) {
    return r.refused == Bucket(most);
  });
  if (refused != results.rend()) out.text = refused->reason;
  return out;
}

}  // namespace setpoint::search
