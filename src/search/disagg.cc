// SPDX-License-Identifier: Apache-2.0
#include "search/disagg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "search/match.h"

namespace setpoint::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// A prefill pool's points that no other beats: slower first token, higher rate.
struct PrefillFront {
  const Pool* pool = nullptr;
  std::vector<PoolPoint> points;

  // The fastest point within the bound, or none.
  const PoolPoint* within(double ttft_ms) const {
    const PoolPoint* found = nullptr;
    for (const PoolPoint& p : points) {
      if (p.ttft_ms <= ttft_ms) found = &p;
    }
    return found;
  }
};

PrefillFront prefill_front(const Pool& pool) {
  PrefillFront front{&pool, {}};
  std::vector<PoolPoint> points;
  for (const PoolPoint& p : pool.points) {
    if (p.finite()) points.push_back(p);
  }
  std::stable_sort(points.begin(), points.end(), [](const PoolPoint& a, const PoolPoint& b) {
    return a.ttft_ms != b.ttft_ms ? a.ttft_ms < b.ttft_ms : a.requests_per_s > b.requests_per_s;
  });
  for (const PoolPoint& p : points) {
    if (front.points.empty() || p.requests_per_s > front.points.back().requests_per_s) {
      front.points.push_back(p);
    }
  }
  return front;
}

class Matcher {
 public:
  Matcher(const Workload& w, const Sla& sla, const Target& target)
      : w_(w), sla_(sla), target_(target) {}

  double following_ms(const PoolPoint& decode) const {
    return decode.tpot_ms * static_cast<double>(std::max<std::int64_t>(w_.osl - 1, 0));
  }

  // What a decode point leaves for the first token; negative when its own bounds are broken.
  double ttft_bound(const PoolPoint& decode) const {
    if (sla_.tpot && decode.tpot_ms > sla_.tpot->value()) return -1;
    double bound = sla_.ttft ? sla_.ttft->value() : kNever;
    if (sla_.request_latency) {
      bound = std::min(bound, sla_.request_latency->value() - following_ms(decode));
    }
    return bound;
  }

  // No deployment of the two yields more tokens/s/GPU: both pools exactly as large as needed.
  double most_throughput(std::int64_t prefill_gpus, const PoolPoint& p, std::int64_t decode_gpus,
                         const PoolPoint& d) const {
    return static_cast<double>(w_.osl) / (static_cast<double>(prefill_gpus) / p.requests_per_s +
                                          static_cast<double>(decode_gpus) / d.requests_per_s);
  }

  std::optional<Candidate> deploy(const PrefillFront& front, const PoolPoint& p, const Pool& decode,
                                  const PoolPoint& d) const {
    const Pool& prefill = *front.pool;
    const PoolPair pair{p.requests_per_s, d.requests_per_s, prefill.gpus, decode.gpus};
    const auto match = matched(pair, front, d);
    if (!match) return std::nullopt;
    // The same rates as several replicas of a smaller unit: easier to place and to lose.
    const std::int64_t replicas = std::gcd(match->prefill, match->decode);
    const std::int64_t x = match->prefill / replicas, y = match->decode / replicas;
    const std::int64_t used = match->prefill * prefill.gpus + match->decode * decode.gpus;
    const auto part = [&](const Pool& pool, Use use, const PoolPoint& point, std::int64_t count) {
      const double most = static_cast<double>(count * replicas) * point.requests_per_s;
      return Part{pool.group, use, point.batch, 0, count, match->rate / most};
    };
    Candidate c{.mode = Mode::disagg,
                .parts = {part(prefill, Use::prefill, p, x), part(decode, Use::decode, d, y)}};
    c.ttft_ms = p.ttft_ms;
    c.tpot_ms = d.tpot_ms;
    c.latency_ms = p.ttft_ms + following_ms(d);
    c.gpus_per_replica = x * prefill.gpus + y * decode.gpus;
    c.replicas = replicas;
    c.gpus_asked = target_.gpus > 0 ? target_.gpus : used;
    c.throughput = match->rate * static_cast<double>(w_.osl) / static_cast<double>(c.gpus_asked);
    c.user_speed = d.tpot_ms > 0 ? kMsPerS / d.tpot_ms : 0;
    return c;
  }

 private:
  std::optional<Match> matched(const PoolPair& pair, const PrefillFront& front,
                               const PoolPoint& d) const {
    if (target_.gpus > 0) return match_gpus(pair, target_.gpus);
    if (target_.request_rate > 0) return match_rate(pair, target_.request_rate, kMostGpus);
    // Little's law, with the soonest first token: a slow prefill is no way to hold more requests.
    const double latency_ms = front.points.front().ttft_ms + following_ms(d);
    const double workers =
        static_cast<double>(target_.concurrency) / (d.requests_per_s * latency_ms / kMsPerS);
    if (!(workers <= static_cast<double>(kMostGpus))) return std::nullopt;
    return match_decode(pair, static_cast<std::int64_t>(std::ceil(workers)), kMostGpus);
  }

  const Workload& w_;
  const Sla& sla_;
  const Target& target_;
};

// A smaller prefill batch answers sooner: the first that still keeps the pool's pace.
void answer_sooner(const PrefillFront& prefill, Candidate& c) {
  Part& part = c.parts[0];
  const auto rate_at = [&](std::int64_t batch) {
    return std::find_if(prefill.points.begin(), prefill.points.end(),
                        [&](const PoolPoint& p) { return p.batch == batch; })
        ->requests_per_s;
  };
  const double needed = rate_at(part.batch) * part.load;
  for (const PoolPoint& p : prefill.points) {
    if (p.requests_per_s < needed) continue;
    c.latency_ms += p.ttft_ms - c.ttft_ms;
    c.ttft_ms = p.ttft_ms;
    part.load = needed / p.requests_per_s;
    part.batch = p.batch;
    return;
  }
}

// The best candidate of one pair of layouts within the bounds.
std::optional<Candidate> best_pair(const Matcher& m, const PrefillFront& prefill,
                                   const Pool& decode, const Target& target) {
  std::optional<Candidate> best;
  for (const PoolPoint& d : decode.points) {
    if (!d.finite()) continue;
    const PoolPoint* p = prefill.within(m.ttft_bound(d));
    if (p == nullptr) continue;
    if (best && target.gpus > 0 &&
        m.most_throughput(prefill.pool->gpus, *p, decode.gpus, d) < best->throughput) {
      continue;
    }
    const auto c = m.deploy(prefill, *p, decode, d);
    if (c && (!best || better(*c, *best, target))) best = c;
  }
  if (best) answer_sooner(prefill, *best);
  return best;
}

// For each decode point the most throughput any prefill layout gives it. `prefill` comes with the
// most rate for its GPUs first, so that the bound soon ends the walk.
void add_front(const Matcher& m, const std::vector<PrefillFront>& prefill, const Pool& decode,
               std::vector<Candidate>& out) {
  for (const PoolPoint& d : decode.points) {
    if (!d.finite()) continue;
    std::optional<Candidate> best;
    const PrefillFront* from = nullptr;
    for (const PrefillFront& f : prefill) {
      const PoolPoint& p = f.points.back();
      const double most = m.most_throughput(f.pool->gpus, p, decode.gpus, d);
      if (best && most < best->throughput) break;
      const auto c = m.deploy(f, p, decode, d);
      if (!c || (best && c->throughput <= best->throughput)) continue;
      best = c;
      from = &f;
    }
    if (!best) continue;
    answer_sooner(*from, *best);
    out.push_back(*best);
  }
}

std::optional<Candidate> nearest_pair(const Matcher& m, const PrefillFront& prefill,
                                      const Pool& decode, const Sla& sla) {
  std::optional<Candidate> nearest;
  double least = kNever;
  const PoolPoint& p = prefill.points.front();
  for (const PoolPoint& d : decode.points) {
    if (!d.finite()) continue;
    const double off = distance(sla, p.ttft_ms, d.tpot_ms, p.ttft_ms + m.following_ms(d));
    if (off >= least) continue;
    if (const auto c = m.deploy(prefill, p, decode, d)) {
      nearest = c;
      least = off;
    }
  }
  return nearest;
}

void add_nearest(const Matcher& m, const std::vector<PrefillFront>& prefill,
                 const std::vector<Pool>& decode, const Sla& sla, std::vector<Candidate>& out) {
  for (const PrefillFront& front : prefill) {
    for (const Pool& pool : decode) {
      if (auto nearest = nearest_pair(m, front, pool, sla)) out.push_back(*nearest);
    }
  }
}

// Each decode point in its bucket, beside the prefill workers that answer soonest among those that
// fit next to it: it meets the bounds exactly when some deployment of it does.
void count_points(const Matcher& m, const std::vector<PrefillFront>& prefill,
                  const std::vector<Pool>& decode, const Sla& sla, const Target& target,
                  DisaggResult& out) {
  const std::int64_t gpus = target.gpus > 0 ? target.gpus : kMostGpus;
  for (const Pool& pool : decode) {
    double ttft = kNever;
    for (const PrefillFront& front : prefill) {
      if (front.pool->gpus + pool.gpus > gpus) continue;
      ttft = std::min(ttft, front.points.front().ttft_ms);
    }
    for (const PoolPoint& d : pool.points) {
      Bucket bucket = prefill.empty() ? Bucket::no_partner : Bucket::gpus;
      if (!d.finite()) {
        bucket = Bucket::not_finite;
      } else if (ttft < kNever) {
        const double latency = ttft + m.following_ms(d);
        bucket = judge(sla, ttft, d.tpot_ms, latency);
        out.reach.add(ttft, d.tpot_ms, latency);
      }
      out.tally.add(bucket);
    }
  }
}

}  // namespace

DisaggResult match_pools(const std::vector<Pool>& prefill, const std::vector<Pool>& decode,
                         const Workload& w, const Sla& sla, const Target& target) {
  const Matcher m(w, sla, target);
  DisaggResult out;
  std::vector<PrefillFront> fronts;
  for (const Pool& pool : prefill) {
    fronts.push_back(prefill_front(pool));
    if (fronts.back().points.empty()) fronts.pop_back();
  }
  count_points(m, fronts, decode, sla, target, out);
  for (const PrefillFront& front : fronts) {
    for (const Pool& pool : decode) {
      if (auto best = best_pair(m, front, pool, target)) out.best.push_back(*best);
    }
  }
  if (out.best.empty()) add_nearest(m, fronts, decode, sla, out.nearest);
  std::stable_sort(fronts.begin(), fronts.end(), [](const auto& a, const auto& b) {
    return a.points.back().requests_per_s / static_cast<double>(a.pool->gpus) >
           b.points.back().requests_per_s / static_cast<double>(b.pool->gpus);
  });
  for (const Pool& pool : decode) add_front(m, fronts, pool, out.all);
  out.front = front_of(out.all);
  return out;
}

}  // namespace setpoint::search
