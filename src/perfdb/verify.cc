// SPDX-License-Identifier: Apache-2.0
#include "perfdb/verify.h"

#include <fmt/format.h>

#include <cmath>

#include "base/sqlite.h"

namespace setpoint::perfdb {
namespace {

Result<std::vector<std::string>> damaged_pages(const Store& store) {
  SP_TRY(const base::Database database, base::Database::open_immutable(store.file()));
  SP_TRY(base::Statement check, database.prepare("PRAGMA integrity_check(20)"));
  std::vector<std::string> faults;
  for (;;) {
    SP_TRY(const bool row, check.step());
    if (!row) return faults;
    if (check.text(0) != "ok") faults.push_back(check.text(0));
  }
}

void count(const Slice& slice, TableHealth& health) {
  ++health.slices;
  health.cells += static_cast<std::int64_t>(slice.latency_ms.size());
  const std::size_t inner = slice.axes.back().size();
  for (std::size_t begin = 0; begin < slice.latency_ms.size(); begin += inner) {
    float before = NAN;
    for (std::size_t i = begin; i < begin + inner; ++i) {
      const float now = slice.latency_ms[i];
      if (std::isnan(now)) continue;
      ++health.measured;
      if (!std::isnan(before)) {
        ++health.steps;
        if (now < before * static_cast<float>(1 - kFall)) ++health.falls;
      }
      before = now;
    }
  }
}

}  // namespace

Result<Verified> verify(const Store& store) {
  Verified verified;
  SP_TRY(verified.faults, damaged_pages(store));
  SP_TRY(const std::vector<SourceInfo> sources, store.sources("", ""));
  for (const SourceInfo& source : sources) {
    TableHealth health{source, 0, 0, 0, 0, 0};
    SP_TRY(const std::vector<SliceHead> heads, store.heads(source));
    for (const SliceHead& head : heads) {
      const Result<Slice> slice = store.read(source, head);
      if (slice.ok()) {
        count(*slice, health);
      } else {
        verified.faults.push_back(slice.error().text);
      }
    }
    if (health.measured != source.rows_kept) {
      verified.faults.push_back(fmt::format("{} ({}): {} rows were imported, {} are there",
                                            source.provenance.file, source.op, source.rows_kept,
                                            health.measured));
    }
    verified.tables.push_back(std::move(health));
  }
  return verified;
}

}  // namespace setpoint::perfdb
