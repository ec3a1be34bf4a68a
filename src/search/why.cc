// SPDX-License-Identifier: Apache-2.0
#include "search/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace setpoint::search {
namespace {

// A latency this close to its bound is what sets the batch.
constexpr double kAtTheBound = 0.95;
// A pool that uses less of its rate than this idles for a reason worth telling.
constexpr double kIdleBelow = 0.9;

struct Bound {
  Bucket bucket;
  const char* name;
  double limit_ms, reached_ms;
  double ratio() const { return reached_ms / limit_ms; }
};

std::vector<Bound> bounds(const Sla& sla, double ttft, double tpot, double latency) {
  std::vector<Bound> out;
  if (sla.ttft) out.push_back({Bucket::ttft, "TTFT", sla.ttft->value(), ttft});
  if (sla.tpot) out.push_back({Bucket::tpot, "TPOT", sla.tpot->value(), tpot});
  if (sla.request_latency) {
    out.push_back(
        {Bucket::request_latency, "request latency", sla.request_latency->value(), latency});
  }
  return out;
}

std::string bottleneck(const Candidate& c) {
  const Part &prefill = c.parts[0], &decode = c.parts[1];
  const bool prefill_slower = prefill.load >= decode.load;
  const double idle = 1 - std::min(prefill.load, decode.load);
  std::string text =
      fmt::format("{} sets its rate", prefill_slower ? "the prefill pool" : "the decode pool");
  if (idle > 1 - kIdleBelow) {
    text += fmt::format(" while {:.0f} % of the {} pool idles", idle * 100,
                        prefill_slower ? "decode" : "prefill");
  }
  return text;
}

std::string what_binds(const Candidate& c, const SearchRequest& request) {
  std::string text;
  for (const Bound& b : bounds(request.sla, c.ttft_ms, c.tpot_ms, c.latency_ms)) {
    if (b.ratio() < kAtTheBound) continue;
    text += fmt::format("{}{} is {:.4g} of {:.4g} ms", text.empty() ? "" : " and ", b.name,
                        b.reached_ms, b.limit_ms);
  }
  if (!text.empty()) return text + ": a larger batch would break the bound";
  return "no latency bound is near: memory or throughput itself sets the batch";
}

std::string against(const ModeBest& best, const ModeBest& other) {
  const auto &a = best.estimate, &b = other.estimate;
  std::string text = fmt::format(
      "{} yields {:.1f} tokens/s/GPU, {} {:.1f} ({:.2f}x)", kModeNames[std::size_t(a.mode)],
      a.tokens_per_s_per_gpu(), kModeNames[std::size_t(b.mode)], b.tokens_per_s_per_gpu(),
      b.tokens_per_s_per_gpu() > 0 ? a.tokens_per_s_per_gpu() / b.tokens_per_s_per_gpu() : 0);
  const ModeBest* disagg = a.mode == Mode::disagg ? &best : nullptr;
  if (b.mode == Mode::disagg) disagg = &other;
  if (disagg == nullptr) return text;
  text += ": in disagg " + bottleneck(disagg->candidate);
  const std::int64_t unused = disagg->estimate.gpus_asked - disagg->estimate.gpus_used();
  if (unused > 0) text += fmt::format(" and {} GPUs stay unused", unused);
  if (disagg == &other) {
    text += "; every aggregated GPU serves both phases";
  } else {
    text += "; aggregated, prompts share their steps with decodes and stretch their TPOT";
  }
  return text;
}

std::string share_of_rejected(const Tally& tally) {
  std::int64_t all = 0;
  std::vector<std::pair<std::int64_t, std::size_t>> counts;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    all += tally.count[i];
    if (i != std::size_t(Bucket::met) && tally.count[i] > 0) counts.emplace_back(tally.count[i], i);
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (counts.empty()) return fmt::format("all {} candidates keep every bound", all);
  std::string text =
      fmt::format("of {} candidates {} keep every bound; the others:", all, tally.of(Bucket::met));
  for (const auto& [count, bucket] : counts) {
    text += fmt::format(" {} {}{}", kBucketNames[bucket], count,
                        &counts.back().second == &bucket ? "" : ",");
  }
  return text;
}

const GroupResult* first_refused(const std::vector<GroupResult>& results, Bucket bucket) {
  // The last layout is the widest: if even that one is refused, its reason tells most.
  for (auto it = results.rbegin(); it != results.rend(); ++it) {
    if (it->refused == bucket) return &*it;
  }
  return nullptr;
}

}  // namespace

std::string label(const model::Shard& s) {
  std::string text = fmt::format("tp{}", s.tp);
  if (s.pp > 1) text += fmt::format(" pp{}", s.pp);
  if (s.dp > 1) text += fmt::format(" dp{}", s.dp);
  if (s.cp > 1) text += fmt::format(" cp{}", s.cp);
  if (s.moe_ep > 1) text += fmt::format(" ep{}", s.moe_ep);
  if (s.moe_tp > 1 && (s.moe_ep > 1 || s.moe_tp != s.tp))
    text += fmt::format(" moe_tp{}", s.moe_tp);
  return text;
}

std::string label(const Estimate& e) {
  std::string workers;
  for (const Worker& w : e.workers) {
    workers += fmt::format("{}{} {} of {}, batch {}", workers.empty() ? "" : " + ", w.count,
                           kRoleNames[std::size_t(w.role)], label(w.shard), w.batch);
  }
  return fmt::format("{}, {} {}: {} x ({})", kModeNames[std::size_t(e.mode)], e.framework,
                     e.framework_version, e.replicas, workers);
}

std::vector<std::string> explain(const std::vector<ModeBest>& bests, const SearchRequest& request,
                                 const Tally& tally) {
  std::vector<std::string> out;
  if (bests.empty()) return out;
  const ModeBest& best = bests[0];
  out.push_back(what_binds(best.candidate, request));
  for (std::size_t i = 1; i < bests.size(); ++i) out.push_back(against(best, bests[i]));
  out.push_back(share_of_rejected(tally));
  return out;
}

NoAnswer explain_none(const SearchRequest& request, const Reach& reach, const Tally& tally,
                      const std::vector<GroupResult>& results) {
  NoAnswer out;
  if (std::isfinite(reach.ttft_ms)) out.best_ttft = Ms(reach.ttft_ms);
  if (std::isfinite(reach.tpot_ms)) out.best_tpot = Ms(reach.tpot_ms);
  if (std::isfinite(reach.latency_ms)) out.best_request_latency = Ms(reach.latency_ms);
  if (out.best_request_latency) {
    const auto all = bounds(request.sla, reach.ttft_ms, reach.tpot_ms, reach.latency_ms);
    const auto worst = std::max_element(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a.ratio() < b.ratio(); });
    if (worst != all.end() && worst->ratio() > 1) {
      out.binding_limit = kBucketNames[std::size_t(worst->bucket)];
      out.text =
          fmt::format("the lowest {} that any configuration reaches is {:.4g} ms, the bound {:.4g}",
                      worst->name, worst->reached_ms, worst->limit_ms);
      return out;
    }
  }
  // Each bound can be kept alone, or nothing runs at all: what stops the most candidates.
  std::size_t most = std::size_t(Bucket::out_of_memory);
  for (std::size_t i = 1; i < kBuckets; ++i) {
    const bool of_a_point = i >= std::size_t(Bucket::gpus);
    if (of_a_point != out.best_ttft.has_value()) continue;
    if (tally.count[i] > tally.count[most]) most = i;
  }
  out.binding_limit = kBucketNames[most];
  if (const GroupResult* refused = first_refused(results, Bucket(most))) {
    out.text = refused->reason;
  } else {
    out.text = fmt::format("every bound can be kept alone but not together; {} stops the most",
                           out.binding_limit);
  }
  return out;
}

}  // namespace setpoint::search
