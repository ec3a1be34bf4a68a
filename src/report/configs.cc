// SPDX-License-Identifier: Apache-2.0
#include "report/configs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "report/json.h"
#include "report/table.h"
#include "report/text.h"
#include "search/label.h"

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
      texts({"", "layout", {}, 0, true}, configs,
            [](const Estimate& e) { return search::label(e); }),
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

// The plain members of a CONFIG or a WORKER in order, each after its name's prefix.
void add_cells(const base::Json& json, const std::string& prefix, std::string& names,
               std::string& cells) {
  for (const auto& [name, value] : json.items()) {
    if (value.is_structured() || name == "role" || (prefix.empty() && name == "system")) continue;
    names += (names.empty() ? "" : ",") + prefix + name;
    if (names.size() > prefix.size() + name.size()) cells += ',';
    if (!value.is_null()) cells += value.is_string() ? value.get<std::string>() : value.dump();
  }
}

}  // namespace

std::string configs_csv(Configs configs) {
  const base::Json empty = worker_json(Worker{});
  std::string header, out;
  for (const Estimate& e : configs) {
    std::string names, cells;
    add_cells(config_json(e), "", names, cells);
    add_cells({{"percent_in_tables", percent_in_tables(e.performance.evidence)}}, "", names, cells);
    for (std::size_t role = 0; role < kRoleNames.size(); ++role) {
      base::Json json = empty;
      for (auto& member : json) {
        if (!member.is_structured()) member = nullptr;
      }
      for (const Worker& w : e.workers) {
        if (std::size_t(w.role) == role) json = worker_json(w);
      }
      add_cells(json, std::string(kRoleNames[role]) + "_", names, cells);
    }
    header = names + "\n";
    out += cells + "\n";
  }
  return header + out;
}

}  // namespace setpoint::report
