// SPDX-License-Identifier: Apache-2.0
// attune profile: where the time of training steps goes, from recorded traces.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/json.h"
#include "cli/command.h"
#include "profile/split.h"
#include "report/table.h"
#include "report/text.h"

namespace setpoint::cli {
namespace {

using base::Json;
using profile::Split;

struct Inputs {
  Strings traces;
  std::string marker, window = "device";
  bool each_step = false;
};

// One rank.
struct Profiled {
  profile::Trace trace;
  std::vector<profile::StepSplit> steps;
  Split mean;
};

struct Part {
  std::string_view key;
  double Split::*value;
};
constexpr std::array kParts{
    Part{"total_ms", &Split::total_ms},
    Part{"compute_ms", &Split::compute_ms},
    Part{"communication_ms", &Split::communication_ms},
    Part{"host_ms", &Split::host_ms},
    Part{"idle_ms", &Split::idle_ms},
    Part{"all_communication_ms", &Split::all_communication_ms},
    Part{"hidden_communication_ms", &Split::hidden_communication_ms},
    Part{"send_receive_ms", &Split::send_receive_ms},
    Part{"host_copy_ms", &Split::host_copy_ms},
    Part{"peer_copy_ms", &Split::peer_copy_ms},
    Part{"local_copy_ms", &Split::local_copy_ms},
};

Json split_json(const Split& split) {
  Json out = Json::object();
  for (const Part& part : kParts) out[std::string(part.key)] = split.*part.value;
  out["overlap"] = split.overlap();
  return out;
}

Json profiled_json(const Profiled& p) {
  Json steps = Json::array();
  for (const profile::StepSplit& step : p.steps) {
    Json one = split_json(step.split);
    one["step"] = step.number;
    steps.push_back(one);
  }
  return {{"file", p.trace.file.string()},
          {"format", p.trace.format},
          {"rank", p.trace.rank < 0 ? Json(nullptr) : Json(p.trace.rank)},
          {"device_events", p.trace.host_only ? 0 : p.trace.events.size()},
          {"host_only", p.trace.host_only},
          {"skipped_events", p.trace.skipped},
          {"mean", p.steps.empty() ? Json(nullptr) : split_json(p.mean)},
          {"steps", steps}};
}

std::string percent(double part, const Split& of) {
  return of.total_ms > 0 ? fmt::format("{:.1f}", 100 * part / of.total_ms) : "n/a";
}

// A row of the table: what it is of, and its split.
struct Row {
  std::string file, step;
  Split split;
};

std::string rows_table(const report::Screen& screen, const std::vector<Row>& rows) {
  std::vector<report::Column> columns{{"trace", "", {}, 0, true}, {"step", "", {}, 1},
                                      {"time", "ms", {}, 0},      {"computation", "%", {}, 0},
                                      {"communic.", "%", {}, 0},  {"CPU side", "%", {}, 0},
                                      {"idle", "%", {}, 0},       {"hidden", "% of comm", {}, 2},
                                      {"send/recv", "%", {}, 3},  {"host copy", "%", {}, 4}};
  for (const Row& row : rows) {
    const Split& s = row.split;
    const bool any = s.all_communication_ms > 0;
    const std::vector<std::string> cells{row.file,
                                         row.step,
                                         report::number(s.total_ms),
                                         percent(s.compute_ms, s),
                                         percent(s.communication_ms, s),
                                         percent(s.host_ms, s),
                                         percent(s.idle_ms, s),
                                         any ? fmt::format("{:.0f}", 100 * s.overlap()) : "-",
                                         percent(s.send_receive_ms, s),
                                         percent(s.host_copy_ms, s)};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return report::table(screen, columns);
}

std::string name_of(const profile::Trace& trace) {
  return trace.rank >= 0 ? fmt::format("rank {}", trace.rank) : trace.file.filename().string();
}

// What a person should look at first.
std::string sentence(const std::vector<const Profiled*>& with_steps) {
  const Profiled* slowest = with_steps.front();
  const Profiled* fastest = slowest;
  for (const Profiled* p : with_steps) {
    if (p->mean.total_ms > slowest->mean.total_ms) slowest = p;
    if (p->mean.total_ms < fastest->mean.total_ms) fastest = p;
  }
  const Split& s = slowest->mean;
  const std::array<std::pair<double, std::string_view>, 4> parts{
      {{s.compute_ms, "computation"},
       {s.communication_ms, "exposed communication between GPUs"},
       {s.host_ms, "waiting for the host (launches, copies)"},
       {s.idle_ms, "idling with work already queued"}}};
  const auto largest = std::max_element(parts.begin(), parts.end());
  std::string out = fmt::format("Largest part: {} ({} % of {} ms a step)", largest->second,
                                percent(largest->first, s), report::number(s.total_ms));
  if (slowest != fastest) {
    out += fmt::format("; slowest of {} traces: {}", with_steps.size(), name_of(slowest->trace));
  }
  return out + ".\n";
}

std::string text_of(const report::Screen& screen, const std::vector<Profiled>& all, bool each) {
  std::vector<Row> rows;
  std::vector<const Profiled*> with_steps;
  std::string notes;
  for (const Profiled& p : all) {
    if (p.steps.empty()) {
      notes += fmt::format("{}: nothing ran on a device and no step is marked in it.\n",
                           p.trace.file.string());
      continue;
    }
    with_steps.push_back(&p);
    if (p.trace.host_only) {
      notes += fmt::format("{}: no GPU in it; threads of the host stand for streams.\n",
                           p.trace.file.string());
    }
    if (p.trace.skipped > 0) {
      notes += fmt::format("{}: {} events without usable times left out.\n", p.trace.file.string(),
                           p.trace.skipped);
    }
    if (each) {
      for (const auto& s : p.steps)
        rows.push_back({name_of(p.trace), std::to_string(s.number), s.split});
    }
    rows.push_back({name_of(p.trace), fmt::format("mean of {}", p.steps.size()), p.mean});
  }
  if (with_steps.empty()) return notes;
  return sentence(with_steps) + "\n" + rows_table(screen, rows) + (notes.empty() ? "" : "\n") +
         notes;
}

Result<int> run_profile(const Inputs& in, const Console& console) {
  std::vector<Profiled> all;
  const auto window = in.window == "host" ? profile::Window::host : profile::Window::device;
  for (const std::string& file : in.traces) {
    SP_TRY(profile::Trace trace, profile::read_trace(file, in.marker));
    auto steps = profile::split_steps(trace, window);
    const Split mean = profile::mean(steps);
    all.push_back({std::move(trace), std::move(steps), mean});
  }
  bool any = false;
  Json out = Json::array();
  for (const Profiled& p : all) {
    any = any || !p.steps.empty();
    if (console.json) out.push_back(profiled_json(p));
  }
  SP_CHECK(console.print(console.json ? base::json_text({{"traces", out}}, 2) + "\n"
                                      : text_of(console.screen, all, in.each_step)));
  return any ? kDone : kNo;
}

}  // namespace

Action profile_command(Flags& flags) {
  auto in = std::make_shared<Inputs>();
  flags.arguments("trace", in->traces, "PyTorch trace (.json, .json.gz) or nsys SQLite export");
  flags.group("Steps");
  flags.text("--step-marker", in->marker, "TEXT",
             "Start of the names that mark steps; default: ProfilerStep#");
  flags.choice("--window", in->window, {"device", "host"},
               "Clock that bounds a step: the GPU's work or the host's marks");
  flags.toggle("--steps", in->each_step, "Every step beside the mean");
  return [in](const Console& console) { return run_profile(*in, console); };
}

}  // namespace setpoint::cli
