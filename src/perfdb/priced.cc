// SPDX-License-Identifier: Apache-2.0
#include "perfdb/priced.h"

#include <algorithm>
#include <cmath>

namespace setpoint::perfdb {
namespace {

// (query, key) pairs of prefill after `prefix` tokens over those of a prompt as long as both.
double share_of_pairs(const ops::Point& at, double window) {
  const double full = at.seq + at.prefix;
  if (window > 0 && full > window) return at.seq / full;
  return (full * full - at.prefix * at.prefix) / (full * full);
}

class TablePricer final : public BoundOp::Pricer {
 public:
  explicit TablePricer(Priced priced) : p_(std::move(priced)) {}

  Answer at(const ops::Point& point) const override {
    Surface::Value v = read(point);
    if (point.prefix > 0 && p_.family->drive == Drive::prompt) {
      v = {after_prefix(point, v.ms), std::max(v.mark, Mark::interpolated)};
    }
    const auto source = std::max(p_.least, static_cast<Source>(v.mark));
    return {Ms(v.ms), source, p_.family->sigma[static_cast<std::size_t>(source)]};
  }

 private:
  Surface::Value read(const ops::Point& point) const {
    const Surface& first = p_.lanes.front();
    switch (p_.family->drive) {
      case Drive::tokens: {
        const double x = std::max(point.tokens, 1.0) * p_.scale;
        if (p_.lanes.size() == 1) return first.at(0, x);
        const double whole = std::ceil(x);
        const bool aligned = std::fmod(whole, p_.modulus) == 0;
        return p_.lanes[aligned ? 0 : 1].at(0, whole);
      }
      case Drive::batch:
        return first.at(0, std::max(point.batch, 1.0));
      case Drive::prompt:
        return first.at(std::max(point.seq, 1.0) + std::max(point.prefix, 0.0),
                        std::max(point.batch, 1.0));
      case Drive::decode:
        return first.at(std::max(point.batch, 1.0), std::max(point.seq, 1.0));
    }
    return {};
  }

  // The kernel over the whole length does this share of its work; its launch is paid in full, and
  // the cached keys and values are read once in any case.
  double after_prefix(const ops::Point& at, double full_ms) const {
    const double floor = std::min(p_.floor_ms, full_ms);
    const double work = floor + (full_ms - floor) * share_of_pairs(at, p_.window);
    return std::max(work, p_.cached_token_ms * (at.seq + at.prefix) * at.batch);
  }

  Priced p_;
};

}  // namespace

void Priced::scale_by(const std::function<double(const ops::Point&)>& ratio) {
  for (Surface& lane : lanes) {
    lane.transform([&](double outer, double inner, double ms) {
      return ms * ratio(point_of(family->drive, outer, inner, scale));
    });
  }
}

std::shared_ptr<const BoundOp::Pricer> make_pricer(Priced priced) {
  return std::make_shared<TablePricer>(std::move(priced));
}

}  // namespace setpoint::perfdb
