// SPDX-License-Identifier: Apache-2.0
#include "report/estimate_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "perfdb/answer.h"
#include "report/search_text.h"
#include "report/table.h"
#include "report/text.h"
#include "search/label.h"

namespace setpoint::report {
namespace {

// A row of the memory table.
struct MemoryRow {
  Role role;
  MemoryUse use;
  std::int64_t kv_tokens;
};

std::string memory_text(const Screen& screen, const std::vector<MemoryRow>& rows) {
  struct Part {
    const char* name;
    Bytes (*of)(const MemoryUse&);
  };
  constexpr std::array kParts{
      Part{"weights", [](const MemoryUse& m) { return m.weights; }},
      Part{"activ.", [](const MemoryUse& m) { return m.activations; }},
      Part{"KV", [](const MemoryUse& m) { return m.kv; }},
      Part{"comm.", [](const MemoryUse& m) { return m.collective; }},
      Part{"context", [](const MemoryUse& m) { return m.context; }},
      Part{"total", [](const MemoryUse& m) { return m.total(); }},
      Part{"capacity", [](const MemoryUse& m) { return m.capacity; }},
  };
  std::vector<Column> columns{{"worker", "", {}, 0, true}};
  for (const MemoryRow& row : rows) {
    columns[0].cells.emplace_back(kRoleNames[static_cast<std::size_t>(row.role)]);
  }
  for (const Part& part : kParts) {
    columns.push_back({part.name, "GiB", {}});
    for (const MemoryRow& row : rows) {
      columns.back().cells.push_back(fmt::format("{:.2f}", gib(part.of(row.use))));
    }
  }
  columns.push_back({"KV pool", "tokens", {}});
  for (const MemoryRow& row : rows) {
    columns.back().cells.push_back(row.kv_tokens > 0 ? base::grouped(row.kv_tokens) : "-");
  }
  return "\nMemory of the fullest GPU\n" + table(screen, std::move(columns));
}

std::string speed_text(const Screen& screen, const Estimate& e, const Workload& w) {
  const Performance& p = e.performance;
  const bool more = w.osl > 1;
  const double requests = p.requests_per_s * static_cast<double>(e.replicas);
  std::string rate = fmt::format("{} requests/s", number(requests));
  if (more) {
    rate = fmt::format("{} tokens/s/GPU, {} tokens/s/user, {}", number(e.tokens_per_s_per_gpu()),
                       number(e.tokens_per_s_per_user()), rate);
  } else {
    rate += fmt::format(", {} input tokens/s", number(requests * static_cast<double>(w.isl)));
  }
  return field(screen, "TTFT", milliseconds(p.ttft)) +
         field(screen, "TPOT", more ? milliseconds(p.tpot) : "n/a (one output token)") +
         field(screen, "latency", milliseconds(p.request_latency)) +
         field(screen, "throughput", rate) +
         field(screen, "in flight", number(p.concurrency * static_cast<double>(e.replicas))) +
         field(screen, "evidence", evidence(p.evidence) + " (share of step time)");
}

std::string given_text(const Screen& screen, const Estimate& e, const Workload& w) {
  std::string title = fmt::format("{}, {} {}: ", kModeNames[static_cast<std::size_t>(e.mode)],
                                  e.framework, e.framework_version);
  title += fmt::format("{} x ({})", base::count_of(e.replicas, "replica"), search::label(e));
  for (const Worker& worker : e.workers) {
    const std::string_view role =
        worker.role == Role::mixed ? "" : kRoleNames[static_cast<std::size_t>(worker.role)];
    title +=
        fmt::format(",{}{} batch {}", role.empty() ? "" : " ", role, base::grouped(worker.batch));
  }
  std::vector<MemoryRow> rows;
  for (const Worker& worker : e.workers)
    rows.push_back({worker.role, worker.memory, worker.kv_tokens});
  std::string out =
      fmt::format("\n{}{}", wrapped(title, screen.columns, 0), speed_text(screen, e, w));
  for (const std::string& warning : e.warnings) out += field(screen, "warning", warning);
  return out + memory_text(screen, rows);
}

// The refusal's own sentence names weights, KV per sequence and what would fit.
std::string refusal_text(const Screen& screen, const search::Refusal& r) {
  return fmt::format("\n{}\n{}{}", paint(screen, Ink::red, "Cannot run"),
                     wrapped(r.text, screen.columns, 2),
                     memory_text(screen, {{r.role, r.memory, 0}}));
}

std::string phase_text(const Screen& screen, const search::Breakdown& phase) {
  double total = 0;
  bool hidden = false;
  for (const step::OpTime& op : phase.ops) {
    hidden = hidden || op.hidden;
    total += op.hidden ? 0 : op.time.value();
  }
  std::vector<Column> columns{{"operator", "", {}, 0, true},
                              {"count", "", {}},
                              {"time", "ms", {}},
                              {"share", "%", {}},
                              {"evidence", "", {}, 0, true}};
  for (const step::OpTime& op : phase.ops) {
    columns[0].cells.push_back(op.name);
    columns[1].cells.push_back(fmt::format("{:g}", op.count));
    columns[2].cells.push_back(fmt::format("{:.3f}", op.time.value()));
    const double share = total > 0 ? 100 * op.time.value() / total : 0;
    columns[3].cells.push_back(op.hidden ? "hidden" : fmt::format("{:.1f}", share));
    columns[4].cells.emplace_back(perfdb::kSourceNames[static_cast<std::size_t>(op.source)]);
  }
  return fmt::format("\nOne {} step: {:.3f} ms\n{}{}", phase.phase, total,
                     table(screen, std::move(columns)),
                     hidden ? "  hidden: runs beside a longer operator\n" : "");
}

}  // namespace

std::string estimate_text(const Screen& screen, const search::EstimateRequest& request,
                          const Assumed& assumed, const search::EstimateAnswer& answer) {
  std::string out = subject_text(screen, request.subject, assumed, answer.inputs);
  if (answer.refusal) return out + refusal_text(screen, *answer.refusal);
  out += given_text(screen, *answer.estimate, request.subject.workload);
  for (const search::Breakdown& phase : answer.breakdown) out += phase_text(screen, phase);
  return out;
}

}  // namespace setpoint::report
