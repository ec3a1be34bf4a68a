// SPDX-License-Identifier: Apache-2.0
#include "serve/step_cache.h"

#include <bit>
#include <cstdint>

namespace setpoint::serve {
namespace {

using step::Evidence;
using step::Pass;

// Slots are powers of two. Decode shapes of one search share a KV length and differ in the number
// of queries, so neighbouring batches never meet in a slot; prompt shapes are few.
constexpr std::size_t kDecodeSlots = 1024;
constexpr std::size_t kPromptSlots = 64;

std::size_t mix(double value) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(bits >> 40);
}

Evidence not_priced() {
  Evidence e;
  e.ms[0] = -1;
  return e;
}

}  // namespace

StepCache::StepCache(step::BoundPlan plan)
    : plan_(std::move(plan)), prompts_(kPromptSlots), decodes_(kDecodeSlots) {}

template <class Price>
Evidence StepCache::on_curve(Curve& curve, double count, Price&& price) {
  return step::between_knots(count, [&](std::size_t index, double knot) -> const Evidence& {
    if (index >= curve.size()) curve.resize(index + 1, not_priced());
    Evidence& value = curve[index];
    if (value.ms[0] < 0) value = price(knot);
    return value;
  });
}

template <class Price>
Evidence StepCache::remembered(Remembered& slot, const std::array<double, 3>& shape,
                               Price&& price) {
  if (slot.shape != shape) slot = {shape, price()};
  return slot.time;
}

Evidence StepCache::tokens(Pass pass, double count) {
  return on_curve(tokens_[static_cast<std::size_t>(pass)], count,
                  [&](double knot) { return plan_.tokens(pass, knot); });
}

Evidence StepCache::samples(Pass pass, double count) {
  return on_curve(samples_[static_cast<std::size_t>(pass)], count,
                  [&](double knot) { return plan_.samples(pass, knot); });
}

Evidence StepCache::prompts(double requests, double new_tokens, double prefix) {
  const std::size_t at = (mix(requests) ^ mix(new_tokens) ^ (mix(prefix) << 1)) % kPromptSlots;
  return remembered(prompts_[at], {requests, new_tokens, prefix},
                    [&] { return plan_.prompts(requests, new_tokens, prefix); });
}

Evidence StepCache::decodes(double queries, double kv_length) {
  const std::size_t at = (static_cast<std::size_t>(queries) + mix(kv_length)) % kDecodeSlots;
  return remembered(decodes_[at], {queries, kv_length, 0},
                    [&] { return plan_.decodes(queries, kv_length); });
}

}  // namespace setpoint::serve
