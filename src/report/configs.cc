// SPDX-License-Identifier: Apache-2.0
#include "report/configs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "report/table.h"
#include "report/text.h"

namespace setpoint::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Configs = std::span<const Estimate>;

Column texts(Column column, Configs configs, const std::function<std::string(const Estimate&)>& f) {
  for (const Estimate& e : configs) column.cells.push_back(f(e));
  return column;
}

Column values(Column column, Configs configs, const std::function<double(const Estimate&)>& f) {
  std::vector<double> all;
  for (const Estimate& e : configs) all.push_back(f(e));
  column.cells = numbers(all);
  return column;
}

// A value of each worker: "64", or "1 + 96" for prefill and decode.
std::string of_workers(const Estimate& e, const std::function<std::string(const Worker&)>& f) {
  std::string out;
  for (const Worker& worker : e.workers) out += (out.empty() ? "" : " + ") + f(worker);
  return out;
}

double over_all(const Estimate& e, double of_replica) {
  return of_replica * static_cast<double>(e.replicas);
}

double requests_per_gpu(const Estimate& e) {
  return over_all(e, e.performance.requests_per_s) / static_cast<double>(e.gpus_asked);
}

std::vector<Column> throughput(Configs configs, const Workload& w) {
  if (w.osl > 1) {
    return {values({"tokens/s", "/GPU", {}}, configs, &Estimate::tokens_per_s_per_gpu),
            values({"tokens/s", "/user", {}}, configs, &Estimate::tokens_per_s_per_user)};
  }
  return {values({"requests", "/s", {}}, configs,
                 [](const Estimate& e) { return over_all(e, e.performance.requests_per_s); }),
          values({"input tok", "/s/GPU", {}}, configs, [&](const Estimate& e) {
            return requests_per_gpu(e) * static_cast<double>(w.isl);
          })};
}

}  // namespace

bool one_framework(std::span<const Estimate> configs) {
  return std::all_of(configs.begin(), configs.end(),
                     [&](const Estimate& e) { return e.framework == configs.front().framework; });
}

std::string config_table(const Screen& screen, Configs configs, const Workload& w, int emphasised) {
  std::vector<Column> columns{
      {"", "#", {}, 0, false},
      texts({"", "framework", {}, one_framework(configs) ? 8 : 3, true}, configs,
            [](const Estimate& e) { return e.framework; }),
      texts({"", "layout", {}, 0, true}, configs, layout),
      texts({"batch", "/rank", {}, 2}, configs,
            [](const Estimate& e) {
              return of_workers(e, [](const Worker& w) { return fmt::format("{}", w.batch); });
            }),
      texts({"replicas", "x GPUs", {}, 1}, configs,
            [](const Estimate& e) { return fmt::format("{}x{}", e.replicas, e.gpus_per_replica); }),
  };
  for (std::size_t i = 0; i < configs.size(); ++i) {
    columns.front().cells.push_back(fmt::format("{}", i + 1));
  }
  for (Column& column : throughput(configs, w)) columns.push_back(std::move(column));
  columns.push_back(values({"TTFT", "ms", {}}, configs,
                           [](const Estimate& e) { return e.performance.ttft.value(); }));
  columns.push_back(values({"TPOT", "ms", {}}, configs, [](const Estimate& e) {
    return e.performance.tpot.value() > 0 ? e.performance.tpot.value() : kNone;
  }));
  columns.push_back(values({"latency", "s", {}, 6}, configs, [](const Estimate& e) {
    return e.performance.request_latency.value() / kMsPerS;
  }));
  columns.push_back(texts({"in", "flight", {}, 5}, configs, [](const Estimate& e) {
    return fmt::format("{:.0f}", over_all(e, e.performance.concurrency));
  }));
  columns.push_back(texts({"memory", "GiB", {}, 7}, configs, [](const Estimate& e) {
    return of_workers(e,
                      [](const Worker& w) { return fmt::format("{:.0f}", gib(w.memory.total())); });
  }));
  columns.push_back(texts({"in tables", "%", {}, 4}, configs, [](const Estimate& e) {
    return fmt::format("{:.0f}", percent_in_tables(e.performance.evidence));
  }));
  return table(screen, std::move(columns), emphasised);
}

namespace {

constexpr std::array<Role, 3> kCsvRoles{Role::mixed, Role::prefill, Role::decode};
constexpr std::string_view kCsvWorker =
    "count,system,tp,pp,dp,moe_tp,moe_ep,cp,batch,"
    "max_num_tokens,memory_gib,kv_tokens";

std::string csv_worker(const Estimate& e, Role role) {
  for (const Worker& w : e.workers) {
    if (w.role != role) continue;
    return fmt::format(",{},{},{},{},{},{},{},{},{},{},{},{}", w.count, w.system, w.shard.tp,
                       w.shard.pp, w.shard.dp, w.shard.moe_tp, w.shard.moe_ep, w.shard.cp, w.batch,
                       w.max_num_tokens, gib(w.memory.total()), w.kv_tokens);
  }
  return std::string(12, ',');
}

std::string csv_or_empty(double value) { return value > 0 ? fmt::format("{}", value) : ""; }

std::string csv_header() {
  std::string out =
      "mode,framework,framework_version,gpus_used,replicas,gpus_per_replica,concurrency,ttft_ms,"
      "tpot_ms,request_latency_ms,tokens_per_s_per_gpu,tokens_per_s_per_user,requests_per_s,"
      "percent_in_tables";
  for (const Role role : kCsvRoles) {
    std::string names(kCsvWorker);
    for (std::size_t at = 0; at != std::string::npos; at = names.find(',', at)) {
      if (at > 0) ++at;
      const std::string prefix = fmt::format("{}_", kRoleNames[static_cast<std::size_t>(role)]);
      names.insert(at, prefix);
      at += prefix.size();
    }
    out += "," + names;
  }
  return out + "\n";
}

}  // namespace

std::string configs_csv(Configs configs) {
  std::string out = csv_header();
  for (const Estimate& e : configs) {
    const Performance& p = e.performance;
    out +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.1f}",
                    kModeNames[static_cast<std::size_t>(e.mode)], e.framework, e.framework_version,
                    e.gpus_used(), e.replicas, e.gpus_per_replica, over_all(e, p.concurrency),
                    p.ttft.value(), csv_or_empty(p.tpot.value()), p.request_latency.value(),
                    e.tokens_per_s_per_gpu(), csv_or_empty(e.tokens_per_s_per_user()),
                    over_all(e, p.requests_per_s), percent_in_tables(p.evidence));
    for (const Role role : kCsvRoles) out += csv_worker(e, role);
    out += "\n";
  }
  return out;
}

}  // namespace setpoint::report
