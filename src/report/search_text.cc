// SPDX-License-Identifier: Apache-2.0
#include "report/search_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/configs.h"
#include "report/plot.h"
#include "report/text.h"
#include "search/label.h"

namespace setpoint::report {
namespace {

using search::NoAnswer;
using search::SearchRequest;
using search::SearchResult;

constexpr std::array<std::string_view, 3> kModeTitles{"Aggregated", "Disaggregated", "Static"};
constexpr std::size_t kMostTablesNamed = 6;

std::string_view mode_name(Mode mode) { return kModeNames[static_cast<std::size_t>(mode)]; }

std::string target_line(const search::Target& target) {
  if (target.gpus > 0) return base::count_of(target.gpus, "GPU");
  if (target.request_rate > 0) {
    return fmt::format("the fewest GPUs for {} requests/s", number(target.request_rate));
  }
  return fmt::format("the fewest GPUs for {} requests in flight",
                     base::grouped(target.concurrency));
}

std::string promise_line(const Sla& sla) {
  struct Bound {
    const char* name;
    const std::optional<Ms>& most;
  };
  std::vector<std::string> bounds;
  for (const Bound& b : {Bound{"TTFT", sla.ttft}, Bound{"TPOT", sla.tpot},
                         Bound{"request latency", sla.request_latency}}) {
    if (b.most) bounds.push_back(fmt::format("{} <= {}", b.name, milliseconds(*b.most)));
  }
  return bounds.empty() ? "no latency bound given: none applied" : base::join(bounds);
}

std::string incomplete_text(const Screen& screen, const SearchResult& result) {
  if (result.missing_data.empty()) return "";
  const std::size_t shown = std::min(kMostTablesNamed, result.missing_data.size());
  std::string tables = base::join(std::span(result.missing_data).first(shown), "; ");
  if (shown < result.missing_data.size()) {
    tables += fmt::format("; and {} more", result.missing_data.size() - shown);
  }
  return "\n" +
         paint(screen, Ink::yellow, "INCOMPLETE ANSWER: candidates were dropped for want of data") +
         "\n" + wrapped(tables, screen.columns, 2);
}

std::string speed_line(const Estimate& e, const Workload& w) {
  const Performance& p = e.performance;
  const double requests = p.requests_per_s * static_cast<double>(e.replicas);
  if (w.osl <= 1) {
    return fmt::format("{} requests/s, {} input tokens/s; TTFT {}, TPOT n/a (one output token)",
                       number(requests), number(requests * static_cast<double>(w.isl)),
                       milliseconds(p.ttft));
  }
  return fmt::format("{} tokens/s/GPU at {} tokens/s/user; TTFT {}, TPOT {}, {} requests/s",
                     number(e.tokens_per_s_per_gpu()), number(e.tokens_per_s_per_user()),
                     milliseconds(p.ttft), milliseconds(p.tpot), number(requests));
}

std::string deployment_line(const Estimate& e) {
  std::string batches;
  for (const Worker& w : e.workers) {
    batches += fmt::format("{}{}", batches.empty() ? "" : " + ", w.batch);
  }
  return fmt::format("{}, batch {} per rank; {} of {} = {}", search::label(e), batches,
                     base::count_of(e.replicas, "replica"),
                     base::count_of(e.gpus_per_replica, "GPU"),
                     base::count_of(e.gpus_used(), "GPU"));
}

std::string best_text(const Screen& screen, const SearchRequest& request,
                      const SearchResult& result) {
  const search::ModeResult* mode = result.mode(result.best->first);
  const Estimate& best = mode->configs[result.best->second];
  const std::string title =
      fmt::format("Best: {}, {} {}", mode_name(best.mode), best.framework, best.framework_version);
  std::string out = "\n" + paint(screen, Ink::bold, title) + "\n";
  out += field(screen, "speed", speed_line(best, request.subject.workload));
  out += field(screen, "deployment", deployment_line(best));
  out += field(screen, "evidence", evidence(best.performance.evidence) + " (share of step time)");
  for (const std::string& sentence : result.why) {
    out += field(screen, &sentence == result.why.data() ? "why" : "", sentence);
  }
  for (const std::string& warning : best.warnings) out += field(screen, "warning", warning);
  return out;
}

std::string reach(const char* name, const std::optional<Ms>& best, const std::optional<Ms>& asked) {
  if (!best) return "";
  return fmt::format("{} {}{}   ", name, milliseconds(*best),
                     asked ? fmt::format(" (asked <= {})", milliseconds(*asked)) : "");
}

std::string no_answer_text(const Screen& screen, const SearchRequest& request,
                           const NoAnswer& none) {
  std::string out =
      "\n" +
      paint(screen, Ink::red, "No configuration meets this: " + none.binding_limit + " binds") +
      "\n";
  if (!none.text.empty()) out += wrapped(none.text, screen.columns, 2);
  const std::string best = reach("TTFT", none.best_ttft, request.sla.ttft) +
                           reach("TPOT", none.best_tpot, request.sla.tpot) +
                           reach("latency", none.best_request_latency, request.sla.request_latency);
  if (!best.empty()) out += field(screen, "reachable", "each alone: " + best);
  if (none.nearest.empty()) return out;
  return out + "\nNearest configurations\n" +
         config_table(screen, none.nearest, request.subject.workload);
}

std::string modes_text(const Screen& screen, const SearchRequest& request,
                       const SearchResult& result) {
  std::string out;
  for (const search::ModeResult& mode : result.modes) {
    if (mode.configs.empty()) continue;
    const bool holds_best = result.best && result.best->first == mode.mode;
    const bool one = one_framework(mode.configs);
    out += fmt::format("\n{}, best {}{}\n", kModeTitles[static_cast<std::size_t>(mode.mode)],
                       mode.configs.size(),
                       one ? fmt::format(" ({})", mode.configs.front().framework) : "");
    out += config_table(screen, mode.configs, request.subject.workload,
                        holds_best ? static_cast<int>(result.best->second) : -1);
  }
  return out;
}

Series series_of(const search::ModeResult& mode) {
  constexpr std::array<Series (*)(), 3> kLooks{
      [] {
        return Series{"agg", 'a', "●", Ink::cyan, {}};
      },
      [] {
        return Series{"disagg", 'd', "▲", Ink::magenta, {}};
      },
      [] {
        return Series{"static", 's', "◆", Ink::yellow, {}};
      }};
  Series series = kLooks[static_cast<std::size_t>(mode.mode)]();
  for (const Estimate& e : mode.frontier) {
    series.points.emplace_back(e.tokens_per_s_per_user(), e.tokens_per_s_per_gpu());
  }
  return series;
}

std::string plot_text(const Screen& screen, const SearchRequest& request,
                      const SearchResult& result) {
  if (request.subject.workload.osl <= 1) return "";  // one axis does not exist
  Plot plot;
  plot.x_label = "tokens/s/user";
  plot.y_label = "tokens/s/GPU";
  for (const search::ModeResult& mode : result.modes) plot.series.push_back(series_of(mode));
  if (result.best) {
    const Estimate& best = result.mode(result.best->first)->configs[result.best->second];
    plot.series.push_back({"best", '*', "★", Ink::green, {}});
    plot.series.back().points.emplace_back(best.tokens_per_s_per_user(),
                                           best.tokens_per_s_per_gpu());
  }
  if (request.sla.tpot) {
    plot.x_line = kMsPerS / request.sla.tpot->value();
    plot.x_line_label = fmt::format("TPOT {}", milliseconds(*request.sla.tpot));
  }
  const std::string drawn = draw(screen, plot);
  return drawn.empty() ? "" : "\nPareto front (all points that fit)\n" + drawn;
}

// What became of every candidate. Buckets in the order of the table, which ends with the bounds.
std::string stats_text(const Screen& screen, const SearchResult& result) {
  constexpr std::pair<const char*, const char*> kLost[] = {
      {"framework", "the framework cannot run"},
      {"divisibility", "do not divide the model"},
      {"missing_data", "lack a measured table"},
      {"out_of_memory", "do not fit in memory"},
      {"gpus", "need more GPUs"},
      {"no_partner", "have no prefill worker beside them"},
      {"not_finite", "have no finite time"},
      {"ttft", "are over the TTFT bound"},
      {"tpot", "are over the TPOT bound"},
      {"request_latency", "are over the bound on request latency"}};
  std::string out = fmt::format(
      "{} in {} (data loaded in {}), {} met every bound",
      base::count_of(result.stats.candidates, "candidate"), milliseconds(Ms(result.stats.wall_ms)),
      milliseconds(Ms(result.stats.load_ms)), base::grouped(result.stats.met));
  for (const auto& [bucket, phrase] : kLost) {
    const auto found = result.rejected.find(bucket);
    if (found == result.rejected.end() || found->second == 0) continue;
    out += fmt::format(", {} {}", base::grouped(found->second), phrase);
  }
  return "\n" + field(screen, "searched", out);
}

}  // namespace

std::string search_text(const Screen& screen, const SearchRequest& request, const Assumed& assumed,
                        const SearchResult& result) {
  std::string out = subject_text(screen, request.subject, assumed, result.inputs);
  out += field(screen, "target", target_line(request.target) + "; " + promise_line(request.sla));
  out += incomplete_text(screen, result);
  if (result.best) out += best_text(screen, request, result);
  if (result.no_answer) out += no_answer_text(screen, request, *result.no_answer);
  return out + modes_text(screen, request, result) + plot_text(screen, request, result) +
         stats_text(screen, result);
}

}  // namespace setpoint::report
