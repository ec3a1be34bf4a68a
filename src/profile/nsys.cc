// SPDX-License-Identifier: Apache-2.0
// Nsight Systems exports: tables exist only where there was something to put in, times are
// nanoseconds, names are numbers into StringIds. Columns are read by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/sqlite.h"
#include "profile/trace.h"

namespace setpoint::profile {
namespace {

constexpr double kNsPerUs = 1000;
constexpr int kPushPop = 59, kStartEnd = 60;  // NVTX event types of ranges
constexpr std::array<std::string_view, 4> kDefaultMarkers{"ProfilerStep", "iteration", "step",
                                                          "train_step"};

class Export {
 public:
  Export(base::Database database, std::string marker)
      : database_(std::move(database)), marker_(std::move(marker)) {}

  Result<Trace> read() {
    trace_.format = "nsys";
    SP_TRY(const bool kernels, has("CUPTI_ACTIVITY_KIND_KERNEL"));
    SP_TRY(const bool strings, has("StringIds"));
    if (!kernels || !strings) {
      return Error::bad_input(
          "no tables CUPTI_ACTIVITY_KIND_KERNEL and StringIds: not an Nsight Systems export with "
          "GPU work in it");
    }
    SP_CHECK(read_kernels());
    SP_CHECK(read_copies());
    SP_CHECK(read_fills());
    SP_CHECK(read_launches());
    SP_CHECK(read_steps());
    const auto by_begin = [](const auto& a, const auto& b) { return a.when.begin < b.when.begin; };
    std::sort(trace_.events.begin(), trace_.events.end(), by_begin);
    std::sort(trace_.host_steps.begin(), trace_.host_steps.end(), by_begin);
    return std::move(trace_);
  }

 private:
  Result<bool> has(std::string_view table) const {
    SP_TRY(auto query,
           database_.prepare("SELECT 1 FROM sqlite_master WHERE type='table' AND name=?1"));
    query.bind(1, table);
    return query.step();
  }
  // Calls `row` for each row; a table that is not there has none.
  template <class Row>
  Result<void> each(std::string_view table, const std::string& sql, const Row& row) const {
    SP_TRY(const bool there, has(table));
    if (!there) return {};
    SP_TRY(auto query, database_.prepare(sql));
    for (;;) {
      SP_TRY(const bool found, query.step());
      if (!found) return {};
      row(query);
    }
  }
  void add(const base::Statement& row, Kind kind, bool send_receive) {
    const Interval when = interval(row);
    if (when.end < when.begin) {
      ++trace_.skipped;
    } else {
      trace_.events.push_back({when, kind, send_receive, row.integer(2)});
    }
  }
  static Interval interval(const base::Statement& row) {
    return {static_cast<double>(row.integer(0)) / kNsPerUs,
            static_cast<double>(row.integer(1)) / kNsPerUs};
  }

  Result<void> read_kernels() {
    return each("CUPTI_ACTIVITY_KIND_KERNEL",
                "SELECT k.start, k.end, k.correlationId, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k "
                "LEFT JOIN StringIds s ON s.id = k.demangledName",
                [&](const base::Statement& row) {
                  const std::string name = row.text(3);
                  add(row, kind_of_kernel(name), is_send_receive(name));
                });
  }
  Result<void> read_copies() {
    return each("CUPTI_ACTIVITY_KIND_MEMCPY",
                "SELECT start, end, correlationId, copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY",
                [&](const base::Statement& row) { add(row, kind_of_copy(row.integer(3)), false); });
  }
  Result<void> read_fills() {
    return each("CUPTI_ACTIVITY_KIND_MEMSET",
                "SELECT start, end, correlationId FROM CUPTI_ACTIVITY_KIND_MEMSET",
                [&](const base::Statement& row) { add(row, Kind::copy_local, false); });
  }
  Result<void> read_launches() {
    return each("CUPTI_ACTIVITY_KIND_RUNTIME",
                "SELECT start, end, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                "WHERE correlationId != 0",
                [&](const base::Statement& row) {
                  trace_.launches.emplace(row.integer(2), interval(row));
                });
  }
  Result<void> read_steps() {
    return each(
        "NVTX_EVENTS",
        fmt::format("SELECT e.start, e.end, 0, coalesce(e.text, s.value) FROM NVTX_EVENTS e "
                    "LEFT JOIN StringIds s ON s.id = e.textId "
                    "WHERE e.eventType IN ({}, {}) AND e.end IS NOT NULL",
                    kPushPop, kStartEnd),
        [&](const base::Statement& row) {
          const std::int64_t number = marked(row.text(3));
          if (number >= 0) trace_.host_steps.push_back({number, interval(row)});
        });
  }
  std::int64_t marked(const std::string& name) const {
    if (!marker_.empty()) return step_number(name, marker_);
    for (const std::string_view marker : kDefaultMarkers) {
      const std::int64_t number = step_number(name, marker);
      if (number >= 0) return number;
    }
    return -1;
  }

  base::Database database_;
  std::string marker_;
  Trace trace_;
};

}  // namespace

Result<Trace> read_nsys(const std::filesystem::path& file, const std::string& step_marker) {
  SP_TRY(auto database, base::Database::open_immutable(file));
  return Export(std::move(database), step_marker).read();
}

}  // namespace setpoint::profile
