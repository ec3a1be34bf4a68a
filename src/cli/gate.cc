// SPDX-License-Identifier: Apache-2.0
// attune gate: may this candidate run in place of the original? By its final values alone, or with
// logs and signals of both also by what it trained in its first steps.
#include "setpoint/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "recipe/python_value.h"
#include "report/table.h"
#include "report/text.h"

namespace setpoint::cli {
namespace {

using base::Json;

struct Options {
  std::string original, candidate, by, version, original_request, candidate_request;
  std::string candidate_log, candidate_signals;
  Strings original_logs, original_signals, facts;
  bool allow_review = false;
};

struct Side {
  recipe::Run run;
  std::optional<recipe::FinalValues> requested;
  judge::GateSide gate() const { return {run, requested ? &*requested : nullptr}; }
};

Result<recipe::FinalValues> read_request(const std::string& path, const recipe::Run& run) {
  SP_TRY(const std::string text, base::read_file(path));
  SP_TRY(recipe::FinalValues out, recipe::parse_final_values(text, path));
  out.framework = run.values.framework;
  out.version = run.values.version;
  return out;
}

Result<Side> read_side(const std::string& path, const std::string& request,
                       const Options& options) {
  Side side;
  SP_TRY(side.run, recipe::read_run(path));
  if (side.run.values.version.empty()) side.run.values.version = options.version;
  for (const std::string& fact : options.facts) {
    const auto [name, value] = base::split_pair(fact);
    if (!value || name.empty()) return Error::bad_input("--fact: expected NAME=VALUE");
    const std::string_view word = *value;
    side.run.values.facts[name] =
        word == "true" || word == "false" ? Json(word == "true") : recipe::python_value(word);
  }
  if (!request.empty()) {
    SP_TRY(side.requested, read_request(request, side.run));
  }
  return side;
}

Result<judge::Evidence> read_evidence(const std::string& log, const std::string& signals) {
  judge::Evidence out;
  SP_TRY(const std::string text, base::read_file(log));
  SP_TRY(out.steps, recipe::read_steps(text, log));
  if (signals.empty()) return out;
  SP_TRY(const std::string lines, base::read_file(signals));
  SP_TRY(out.signals, judge::read_signals(lines, signals));
  return out;
}

Result<std::optional<judge::AfterReport>> after(const Options& options,
                                                const recipe::FinalValues& original) {
  if (options.original_logs.empty() && options.candidate_log.empty()) return {std::nullopt};
  if (options.original_logs.empty() || options.candidate_log.empty()) {
    return Error::bad_input("--original-log and --candidate-log belong together");
  }
  if (options.original_signals.size() > options.original_logs.size()) {
    return Error::bad_input("--original-signals: as many as --original-log at most");
  }
  std::vector<judge::Evidence> baselines;
  for (std::size_t i = 0; i < options.original_logs.size(); ++i) {
    const bool with = i < options.original_signals.size();
    SP_TRY(baselines.emplace_back(),
           read_evidence(options.original_logs[i], with ? options.original_signals[i] : ""));
  }
  SP_TRY(const judge::Evidence candidate,
         read_evidence(options.candidate_log, options.candidate_signals));
  return {judge::gate_after(baselines, {}, candidate, original)};
}

std::string_view name_of(judge::Outcome outcome) {
  return judge::Ruling::kNames[static_cast<std::size_t>(outcome)];
}
std::string_view name_of(judge::Sign sign) { return judge::kSigns[static_cast<std::size_t>(sign)]; }

std::string cell(const std::optional<Json>& value) {
  constexpr std::size_t kWidest = 22;
  std::string text = value ? base::json_text(*value) : "-";
  if (text.size() > kWidest) text = text.substr(0, kWidest - 3) + "...";
  return text;
}

std::string findings_text(const judge::GateReport& report, const Console& console) {
  std::vector<report::Column> columns{{"verdict", "", {}, 0, true},
                                      {"difference", "", {}, 0, true},
                                      {"original", "", {}, 0, true},
                                      {"candidate", "", {}, 0, true},
                                      {"class", "", {}, 1, true}};
  std::string reasons;
  for (const judge::Finding& finding : report.findings) {
    constexpr std::size_t kWidest = 40;
    const std::string name = finding.name.size() <= kWidest
                                 ? finding.name
                                 : "..." + finding.name.substr(finding.name.size() - kWidest + 3);
    const std::array<std::string, 5> cells{std::string(name_of(finding.verdict)), name,
                                           cell(finding.base), cell(finding.candidate),
                                           finding.kind};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
    if (finding.verdict == judge::Outcome::pass && !finding.unasked && console.verbose == 0) {
      continue;
    }
    const std::string source = finding.source.empty() ? "" : " [" + finding.source + "]";
    reasons +=
        fmt::format("{}: {}\n", finding.name,
                    finding.verdict == judge::Outcome::pass ? "passes" : name_of(finding.verdict));
    reasons += report::wrapped(finding.why + source, console.screen.columns, 4);
    if (!reasons.ends_with('\n')) reasons += '\n';
  }
  if (report.findings.empty()) return "";
  return report::table(console.screen, std::move(columns)) + (reasons.empty() ? "" : "\n") +
         reasons;
}

std::string after_text(const judge::AfterReport& report, const Console& console) {
  std::string out = fmt::format("after launch: {}: {}\n", name_of(report.sign), report.summary);
  for (const judge::SignalFinding& found : report.signals) {
    if (found.sign == judge::Sign::missing && console.verbose == 0) continue;
    const auto& info = judge::signal_table()[static_cast<std::size_t>(found.signal)];
    out += fmt::format("  {:<8} {:<18} {:>10.3g}  limit {:<10.3g} {}\n", name_of(found.sign),
                       info.name, found.value, found.limit, info.what);
  }
  for (const std::string& note : report.notes) out += "note: " + note + "\n";
  return out;
}

Json after_json(const judge::AfterReport& report) {
  Json signals = Json::array();
  for (const judge::SignalFinding& found : report.signals) {
    const auto& info = judge::signal_table()[static_cast<std::size_t>(found.signal)];
    signals.push_back({{"signal", info.name},
                       {"sign", name_of(found.sign)},
                       {"value", found.value},
                       {"limit", found.limit},
                       {"where", found.where}});
  }
  return {{"sign", name_of(report.sign)},
          {"summary", report.summary},
          {"signals", signals},
          {"notes", report.notes}};
}

Json report_json(const judge::GateReport& report, const judge::Register& by,
                 const judge::Defects& defects) {
  Json findings = Json::array();
  for (const judge::Finding& finding : report.findings) {
    Json row{
        {"name", finding.name}, {"class", finding.kind}, {"verdict", name_of(finding.verdict)}};
    if (finding.base) row["original"] = *finding.base;
    if (finding.candidate) row["candidate"] = *finding.candidate;
    row["why"] = finding.why;
    row["source"] = finding.source;
    row["unasked"] = finding.unasked;
    findings.push_back(std::move(row));
  }
  return {{"verdict", name_of(report.verdict)},
          {"summary", report.summary},
          {"effective_hash", report.effective_hash},
          {"register", {{"framework", by.framework}, {"version", by.version}, {"hash", by.hash}}},
          {"defects_hash", defects.hash},
          {"findings", findings},
          {"notes", report.notes}};
}

bool stops(judge::Outcome outcome, bool allow_review) {
  return outcome == judge::Outcome::reject || (outcome == judge::Outcome::review && !allow_review);
}

Result<int> gate(const Options& options, const Console& console) {
  SP_TRY(const Side original, read_side(options.original, options.original_request, options));
  SP_TRY(const Side candidate, read_side(options.candidate, options.candidate_request, options));
  const Strings known = judge::register_names();
  const std::string& framework = original.run.values.framework;
  const bool has_own = std::find(known.begin(), known.end(), framework) != known.end();
  const std::string fallback = has_own ? framework : "generic";
  SP_TRY(const judge::Register by,
         judge::load_register(options.by.empty() ? fallback : options.by));
  SP_TRY(const judge::Defects defects, judge::shipped_defects(by));
  const judge::GateReport report =
      judge::gate_before(original.gate(), candidate.gate(), by, defects);
  SP_TRY(const auto step2, after(options, original.run.values));
  std::string text;
  if (console.json) {
    Json json = report_json(report, by, defects);
    json["after"] = step2 ? after_json(*step2) : Json();
    text = base::json_text(json, 2) + "\n";
  } else {
    text = fmt::format("{}: {}\n", name_of(report.verdict), report.summary) +
           findings_text(report, console);
    for (const std::string& note : report.notes) text += "note: " + note + "\n";
    if (step2) text += after_text(*step2, console);
  }
  SP_CHECK(console.print(text));
  const bool failed = step2 && (step2->sign == judge::Sign::fail ||
                                (step2->sign == judge::Sign::suspect && !options.allow_review));
  return stops(report.verdict, options.allow_review) || failed ? kNo : kDone;
}

}  // namespace

Action gate_command(Flags& flags) {
  auto options = std::make_shared<Options>();
  flags.text("--original", options->original, "FILE", "Final values of the recipe in use");
  flags.text("--candidate", options->candidate, "FILE", "Those of the recipe to be judged");
  flags.require("--original");
  flags.require("--candidate");
  flags.text("--register", options->by, "NAME|FILE", "Instead of that of the framework");
  flags.text("--framework-version", options->version, "VERSION", "Where the files do not state it");
  flags.texts("--fact", options->facts, "NAME=VALUE", "A fact about both runs");
  flags.toggle("--allow-review", options->allow_review, "Exit 0 also when something is unknown");
  flags.group("What was asked for");
  flags.text("--original-request", options->original_request, "FILE", "Values before side effects");
  flags.text("--candidate-request", options->candidate_request, "FILE", "The same");
  flags.group("After launch");
  flags.texts("--original-log", options->original_logs, "FILE", "Log of a baseline run");
  flags.text("--candidate-log", options->candidate_log, "FILE", "Log of the candidate's run");
  flags.texts("--original-signals", options->original_signals, "FILE",
              "Signals of a baseline run, in the order of the logs");
  flags.text("--candidate-signals", options->candidate_signals, "FILE", "Those of the candidate");
  return [options](const Console& console) { return gate(*options, console); };
}

}  // namespace setpoint::cli
