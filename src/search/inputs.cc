// SPDX-License-Identifier: Apache-2.0
#include "search/inputs.h"

#include <fmt/format.h>

namespace setpoint::search {

Result<void> check(const Subject& subject) {
  const Workload& w = subject.workload;
  SP_CHECK(base::check(kWorkloadFields, w));
  SP_CHECK(base::check(kSubjectFields, subject));
  if (w.prefix >= w.isl) {
    return Error::bad_input(
        fmt::format("prefix: expected less than isl ({}), found {}", w.isl, w.prefix));
  }
  if (w.nextn_accepted > w.nextn) {
    return Error::bad_input(fmt::format("nextn_accepted: expected at most nextn ({}), found {}",
                                        w.nextn, w.nextn_accepted));
  }
  return {};
}

Result<void> check(const SearchRequest& request) {
  SP_CHECK(check(request.subject));
  SP_CHECK(base::check(kSlaFields, request.sla));
  int given = 0;
  for (const Field<Target>& field : kTargetFields) {
    const double value = *field.get(request.target);
    if (value == 0) continue;
    ++given;
    if (field.range().holds(value)) continue;
    return Error::bad_input(
        fmt::format("{}: {}, found {}", field.name, field.range().expected(), value));
  }
  if (given != 1) {
    return Error::bad_input(fmt::format(
        "expected exactly one of --gpus, --target-rate and --target-concurrency, found {}", given));
  }
  if (request.subject.workload.osl <= 1 && request.modes == std::vector<Mode>{Mode::disagg}) {
    return Error::bad_input(
        "disagg needs an osl above 1: with one output token nothing is decoded");
  }
  return {};
}

}  // namespace setpoint::search
