// SPDX-License-Identifier: Apache-2.0
#include "profile/split.h"

#include <algorithm>
#include <array>
#include <optional>

namespace setpoint::profile {
namespace {

constexpr double kUsPerMs = 1000;

using Kinds = std::array<Intervals, kKindCount>;

const Intervals& of(const Kinds& kinds, Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

// Device events that touch the window, clipped to it, united by kind.
Kinds by_kind(const Trace& trace, const Interval& window) {
  Kinds out;
  for (const DeviceEvent& event : trace.events) {
    if (event.when.begin >= window.end) break;
    out[static_cast<std::size_t>(event.kind)].push_back(
        {std::max(event.when.begin, window.begin), std::min(event.when.end, window.end)});
  }
  for (Intervals& set : out) set = unite(std::move(set));
  return out;
}

// What a call takes from its start to the start of its work where nothing is queued before it: a
// tenth of all launches are at least this quick.
double launch_latency_us(const Trace& trace) {
  std::vector<double> delays;
  for (const DeviceEvent& event : trace.events) {
    const auto call = trace.launches.find(event.correlation);
    if (call == trace.launches.end()) continue;
    const double delay = event.when.begin - call->second.begin;
    if (delay > 0) delays.push_back(delay);
  }
  if (delays.empty()) return 0;
  const auto tenth = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 10);
  std::nth_element(delays.begin(), tenth, delays.end());
  return *tenth;
}

// Of one stretch in which the device does nothing, the part until the host had launched what came
// next. Work without a known launch was waited for by the device itself.
double waits_for_host(const Trace& trace, const Interval& gap, double latency_us) {
  const auto next =
      std::lower_bound(trace.events.begin(), trace.events.end(), gap.end,
                       [](const DeviceEvent& event, double at) { return event.when.begin < at; });
  if (next == trace.events.end()) return 0;
  const auto call = trace.launches.find(next->correlation);
  if (call == trace.launches.end() || call->second.begin <= gap.begin) return 0;
  return std::min(call->second.begin + latency_us, gap.end) - gap.begin;
}

std::optional<double> first_kernel_launched_in(const Trace& trace, const Interval& host) {
  for (const DeviceEvent& event : trace.events) {
    const auto call = trace.launches.find(event.correlation);
    if (call != trace.launches.end() && call->second.begin >= host.begin &&
        call->second.begin < host.end) {
      return event.when.begin;
    }
  }
  return std::nullopt;
}

double last_end(const Trace& trace) {
  double end = 0;
  for (const DeviceEvent& event : trace.events) end = std::max(end, event.when.end);
  return end;
}

// Host marks moved to where their work begins on the device.
std::vector<Step> shifted_to_device(const Trace& trace) {
  std::vector<Step> out;
  for (const Step& step : trace.host_steps) {
    const auto begin = first_kernel_launched_in(trace, step.when);
    if (begin) out.push_back({step.number, {*begin, *begin}});
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].when.end = i + 1 < out.size() ? out[i + 1].when.begin : last_end(trace);
  }
  return out;
}

std::vector<Step> windows(const Trace& trace, Window window) {
  if (window == Window::host || trace.host_only) return trace.host_steps;
  if (!trace.device_steps.empty()) return trace.device_steps;
  std::vector<Step> shifted = shifted_to_device(trace);
  if (!shifted.empty()) return shifted;
  if (!trace.host_steps.empty()) return trace.host_steps;
  if (trace.events.empty()) return {};
  return {{0, {trace.events.front().when.begin, last_end(trace)}}};
}

constexpr std::array kParts{&Split::total_ms,
                            &Split::compute_ms,
                            &Split::communication_ms,
                            &Split::host_ms,
                            &Split::idle_ms,
                            &Split::all_communication_ms,
                            &Split::hidden_communication_ms,
                            &Split::send_receive_ms,
                            &Split::host_copy_ms,
                            &Split::peer_copy_ms,
                            &Split::local_copy_ms};

Split scaled(Split split, double factor) {
  for (const auto part : kParts) split.*part *= factor;
  return split;
}

Intervals send_receives(const Trace& trace, const Interval& window) {
  Intervals out;
  for (const DeviceEvent& event : trace.events) {
    if (event.when.begin >= window.end) break;
    if (!event.send_receive) continue;
    out.push_back({std::max(event.when.begin, window.begin), std::min(event.when.end, window.end)});
  }
  return unite(std::move(out));
}

}  // namespace

Split split(const Trace& trace, const Interval& window) {
  const Kinds kinds = by_kind(trace, window);
  const Intervals& compute = of(kinds, Kind::compute);
  const Intervals& communication = of(kinds, Kind::communication);
  Split out;
  out.total_ms = window.end - window.begin;
  out.all_communication_ms = length(communication);
  out.hidden_communication_ms = length(intersect(communication, compute));
  const Intervals exposed = minus(communication, compute);
  out.send_receive_ms = length(intersect(exposed, send_receives(trace, window)));
  Intervals busy = unite(compute, communication);
  const auto take = [&](Kind kind) {
    const double alone = length(minus(of(kinds, kind), busy));
    busy = unite(busy, of(kinds, kind));
    return alone;
  };
  out.host_copy_ms = take(Kind::copy_host);
  out.peer_copy_ms = take(Kind::copy_peer);
  out.local_copy_ms = take(Kind::copy_local);
  out.compute_ms = length(compute) + out.local_copy_ms;
  out.communication_ms = length(exposed) + out.peer_copy_ms;
  out.host_ms = out.host_copy_ms;
  const double latency_us = launch_latency_us(trace);
  for (const Interval& gap : minus({window}, busy)) {
    const double host = waits_for_host(trace, gap, latency_us);
    out.host_ms += host;
    out.idle_ms += gap.end - gap.begin - host;
  }
  return scaled(out, 1 / kUsPerMs);
}

std::vector<StepSplit> split_steps(const Trace& trace, Window window) {
  std::vector<StepSplit> out;
  for (const Step& step : windows(trace, window)) {
    if (step.when.end > step.when.begin) out.push_back({step.number, split(trace, step.when)});
  }
  return out;
}

Split mean(const std::vector<StepSplit>& steps) {
  Split sum;
  for (const StepSplit& step : steps) {
    for (const auto part : kParts) sum.*part += step.split.*part;
  }
  return steps.empty() ? sum : scaled(sum, 1 / static_cast<double>(steps.size()));
}

}  // namespace setpoint::profile
