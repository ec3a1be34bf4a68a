// SPDX-License-Identifier: Apache-2.0
#include "step/step.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "step/compose.h"

namespace setpoint::step {
namespace {

using model::Drive;
using model::Lane;
using model::Phase;

constexpr std::size_t kLanes = 3;
constexpr std::size_t lane_index(Lane lane) { return static_cast<std::size_t>(lane); }

// The plan without a cache in front of it.
struct Uncached {
  const BoundPlan& plan;
  Evidence tokens(Pass pass, double count) const {
    return between_knots(count, [&](std::size_t, double n) { return plan.tokens(pass, n); });
  }
  Evidence samples(Pass pass, double count) const {
    return between_knots(count, [&](std::size_t, double n) { return plan.samples(pass, n); });
  }
  Evidence prompts(double requests, double new_tokens, double prefix) const {
    return plan.prompts(requests, new_tokens, prefix);
  }
  Evidence decodes(double queries, double kv) const { return plan.decodes(queries, kv); }
};

}  // namespace

Result<BoundPlan> BoundPlan::bind(const model::Plan& plan, const perfdb::PerfDb& db) {
  BoundPlan bound;
  for (const model::PlanOp& op : plan.ops) {
    const auto same = std::ranges::find_if(bound.terms_, [&](const Term& t) {
      return t.shape == op.op && t.drive == op.drive && t.phase == op.phase &&
             t.lane == op.overlap && t.times == static_cast<double>(op.tokens_times) &&
             t.over == static_cast<double>(op.tokens_over);
    });
    bound.entries_.push_back(
        {op.name, op.count, static_cast<std::size_t>(same - bound.terms_.begin())});
    if (same != bound.terms_.end()) {
      same->count += op.count;
      continue;
    }
    auto found = db.bind(op.op);
    if (!found) return found.error().at(op.name);
    bound.terms_.push_back({std::move(found).value(), op.op, op.count, op.drive, op.phase,
                            op.overlap, static_cast<double>(op.tokens_times),
                            static_cast<double>(op.tokens_over)});
  }
  return bound;
}

// What is driven by decodes runs wherever there are decodes, what is driven by prompts likewise.
bool BoundPlan::runs(const Term& term, Pass pass) {
  if (term.drive == Drive::prompts || term.drive == Drive::decodes) return true;
  return term.phase == Phase::both || (term.phase == Phase::prefill) == (pass == Pass::prefill);
}

// `count` is the number of tokens or samples; attention reads the shape.
ops::Point BoundPlan::point(const Term& term, const StepShape& shape, double count) {
  const double share = term.times / term.over;
  if (term.drive == Drive::prompts) {
    // A part of a prompt (context parallel) attends to the prefix and, on average, half of the
    // rest.
    const double own = shape.prompt_tokens * share;
    return {std::ceil(shape.prompts * own), shape.prompts, own,
            shape.prefix + (shape.prompt_tokens - own) / 2};
  }
  if (term.drive == Drive::decodes) {
    return {std::ceil(shape.decodes * share), shape.decodes, shape.kv_length, 0};
  }
  return {std::ceil(count * share), 0, 0, 0};
}

Evidence BoundPlan::sum(Drive drive, Pass pass, const StepShape& shape, double count) const {
  std::array<Evidence, kLanes> lanes;
  const bool overlaps = pass == Pass::decode;
  for (const Term& term : terms_) {
    if (term.drive != drive || !runs(term, pass)) continue;
    const Lane lane = overlaps ? term.lane : Lane::none;
    lanes[lane_index(lane)].add(term.op.at(point(term, shape, count)), term.count);
  }
  const Evidence& routed = lanes[lane_index(Lane::routed)];
  const Evidence& shared = lanes[lane_index(Lane::shared)];
  Evidence& total = lanes[lane_index(Lane::none)];
  total.add(routed.total() >= shared.total() ? routed : shared);
  return total;
}

Evidence BoundPlan::tokens(Pass pass, double count) const {
  return sum(Drive::tokens, pass, {}, count);
}

Evidence BoundPlan::samples(Pass pass, double count) const {
  return sum(Drive::samples, pass, {}, count);
}

Evidence BoundPlan::prompts(double requests, double new_tokens, double prefix) const {
  StepShape shape;
  shape.prompts = requests;
  shape.prompt_tokens = new_tokens;
  shape.prefix = prefix;
  return sum(Drive::prompts, Pass::prefill, shape, 0);
}

Evidence BoundPlan::decodes(double queries, double kv_length) const {
  StepShape shape;
  shape.decodes = queries;
  shape.kv_length = kv_length;
  return sum(Drive::decodes, Pass::decode, shape, 0);
}

StepTime BoundPlan::time(const StepShape& shape) const { return compose(shape, Uncached{*this}); }

// One operator as time() prices it; the source is the lower knot's.
OpTime BoundPlan::price(const Entry& entry, const StepShape& queries, double driver) const {
  const Term& term = terms_[entry.term];
  OpTime op{entry.name, entry.count, {}, {}, false};
  if (term.drive == Drive::prompts || term.drive == Drive::decodes) {
    const perfdb::Answer answer = term.op.at(point(term, queries, driver));
    op.time = entry.count * answer.time;
    op.source = answer.source;
    return op;
  }
  const double share = term.drive == Drive::samples ? sampling_share(driver) : 1.0;
  const Knots k = knots_around(driver);
  const perfdb::Answer low = term.op.at(point(term, queries, k.low));
  const perfdb::Answer high = k.weight > 0 ? term.op.at(point(term, queries, k.high)) : low;
  op.time = entry.count * share * (low.time * (1 - k.weight) + high.time * k.weight);
  op.source = low.source;
  return op;
}

std::vector<OpTime> BoundPlan::breakdown(const StepShape& shape) const {
  const Drivers d = drivers(shape);
  const std::array<double, 4> by_drive{d.tokens, d.samples, d.prompts, d.queries};
  StepShape queries = shape;
  queries.decodes = d.queries;
  std::vector<OpTime> times;
  std::vector<Lane> lanes;
  std::array<double, kLanes> lane_ms{};
  for (const Entry& entry : entries_) {
    const Term& term = terms_[entry.term];
    const double driver = by_drive[static_cast<std::size_t>(term.drive)];
    if (driver <= 0 || !runs(term, d.pass)) continue;
    times.push_back(price(entry, queries, driver));
    lanes.push_back(d.pass == Pass::decode ? term.lane : Lane::none);
    lane_ms[lane_index(lanes.back())] += times.back().time.value();
  }
  const bool routed_longer = lane_ms[lane_index(Lane::routed)] >= lane_ms[lane_index(Lane::shared)];
  const Lane hidden = routed_longer ? Lane::shared : Lane::routed;
  for (std::size_t i = 0; i < times.size(); ++i) times[i].hidden = lanes[i] == hidden;
  return times;
}

}  // namespace setpoint::step
