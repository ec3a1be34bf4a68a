// SPDX-License-Identifier: Apache-2.0
#include "search/check.h"

#include <fmt/format.h>

#include <cmath>

namespace setpoint::search {
namespace {

constexpr std::int64_t kMostTokens = 10'000'000;  // of one request; the longest contexts are 1e7
constexpr int kMostDrafts = 16;
constexpr double kMostMs = 1e9;
constexpr double kMostRate = 1e9;
constexpr std::int64_t kMostConcurrency = 10'000'000;

Result<void> within(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return Error::bad_input(
      fmt::format("{} {}: expected a whole number from {} to {}", name, value, least, most));
}

Result<void> bound(const char* name, const std::optional<Ms>& value) {
  if (!value || (value->value() > 0 && value->value() <= kMostMs)) return {};
  return Error::bad_input(fmt::format("{} {}: expected milliseconds above 0, at most {:.0f}", name,
                                      value->value(), kMostMs));
}

}  // namespace

Result<void> check(const Workload& w) {
  SP_CHECK(within("isl", w.isl, 1, kMostTokens));
  SP_CHECK(within("osl", w.osl, 1, kMostTokens));
  SP_CHECK(within("prefix", w.prefix, 0, w.isl - 1));
  SP_CHECK(within("nextn", w.nextn, 0, kMostDrafts));
  if (w.nextn_accepted >= 0 && w.nextn_accepted <= w.nextn) return {};
  return Error::bad_input(fmt::format("nextn_accepted {}: expected a number from 0 to nextn ({})",
                                      w.nextn_accepted, w.nextn));
}

Result<void> check(const Sla& sla) {
  SP_CHECK(bound("ttft", sla.ttft));
  SP_CHECK(bound("tpot", sla.tpot));
  return bound("request latency", sla.request_latency);
}

Result<void> check(const SearchRequest& request) {
  SP_CHECK(check(request.subject.workload));
  SP_CHECK(check(request.sla));
  const Target& t = request.target;
  if ((t.gpus != 0) + (t.request_rate != 0) + (t.concurrency != 0) != 1) {
    return Error::bad_input("give exactly one of gpus, target rate and target concurrency");
  }
  if (request.subject.workload.osl <= 1 && request.modes == std::vector<Mode>{Mode::disagg}) {
    return Error::bad_input(
        "disagg needs an osl above 1: with one output token nothing is decoded");
  }
  if (t.gpus != 0) return within("gpus", t.gpus, 1, kMostGpus);
  if (t.concurrency != 0) return within("target concurrency", t.concurrency, 1, kMostConcurrency);
  if (t.request_rate > 0 && t.request_rate <= kMostRate) return {};
  return Error::bad_input(fmt::format("target rate {}: expected requests/s above 0, at most {:.0f}",
                                      t.request_rate, kMostRate));
}

}  // namespace setpoint::search
