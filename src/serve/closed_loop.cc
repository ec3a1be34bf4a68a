// SPDX-License-Identifier: Apache-2.0
// Disaggregated serving of given clients, each of whom sends its next request when the last one
// ends. Prompts wait for the prefill pool; decode workers take whoever is there, slower the more
// there are. Little's law ties the two: clients = rate x latency.
#include <algorithm>
#include <cmath>

#include "serve/constants.h"
#include "serve/engine.h"

namespace setpoint::serve {
namespace {

// Requests/s of `clients` that pass through one station serving `most` a second and spend `away`
// elsewhere. By the mean-value analysis of Schweitzer and Bard an arrival finds the mean queue of
// the others, hence stays service / (1 - others x busy); the rate is the root of a quadratic.
double rate_of(double clients, Ms away, double most) {
  const double others = clients > 1 ? 1 - 1 / clients : 0;
  const double services = std::max(0.0, away.value()) / kMsPerS * most;
  const double b = services + 1 + clients * others;
  const double root = std::sqrt(std::max(0.0, b * b - 4 * others * services * clients));
  return most * 2 * clients / (b + root);
}

}  // namespace

Point closed_loop(const Point& prefill, std::int64_t x, Engine& decode, std::int64_t y,
                  std::int64_t places, const Workload& w, double clients) {
  const double ranks = static_cast<double>(y * decode.shard.dp);
  const double most = prefill.requests_per_s * static_cast<double>(x) * kPrefillRate.value;
  const Point full = serve::decode(decode, w, static_cast<double>(places));
  // Not less kDecodeRate: places that stand empty during a hand-over are counted by the loop
  // itself.
  const double most_decoded = full.requests_per_s * static_cast<double>(y);
  const Ms alone = prefill.request_latency + prefill.kv_transfer + Ms(kHandOver.value);
  Point point, pool;
  // The share of their time that requests decode says how many decode beside one, and so how long
  // it decodes: bisected to where the share assumed is the share found.
  double low = 0, high = 1;
  for (int i = 0; i < 30; ++i) {
    const double share = (low + high) / 2;
    const double batch = (1 + std::max(0.0, clients - 1) * share) / ranks;
    pool = serve::decode(decode, w, std::clamp(batch, 1.0, static_cast<double>(places)));
    const Ms away = alone + pool.request_latency - Ms(kMsPerS / most);
    point.requests_per_s = std::min(rate_of(clients, away, most), most_decoded);
    const double decoding = point.requests_per_s * pool.request_latency.value() / kMsPerS;
    (decoding > share * clients ? low : high) = share;
  }
  point.request_latency = Ms(clients / point.requests_per_s * kMsPerS);
  point.ttft = point.request_latency - pool.request_latency;
  point.tpot = pool.tpot;
  point.kv_transfer = prefill.kv_transfer;
  point.concurrency = clients;
  const bool decode_full = point.requests_per_s >= most_decoded;
  point.waiting = {.time = std::max(Ms{}, point.ttft - alone),
                   .role = decode_full ? Role::decode : Role::prefill,
                   .busy = decode_full ? 1 : point.requests_per_s / most};
  point.evidence.add(prefill.evidence);
  point.evidence.add(pool.evidence);
  return point;
}

}  // namespace setpoint::serve
