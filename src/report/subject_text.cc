// SPDX-License-Identifier: Apache-2.0
// What was asked, as it was understood: assumptions are said here, never made silently.
#include <fmt/format.h>

#include "base/text.h"
#include "report/search_text.h"
#include "report/text.h"

namespace setpoint::report {
namespace {

std::string model_line(const search::Resolved& r) {
  constexpr double kBillion = 1e9;
  return fmt::format("{} ({}, {} B parameters)", r.model, r.family,
                     number(static_cast<double>(r.parameters) / kBillion));
}

std::string requests_line(const Workload& w, const Assumed& assumed) {
  std::string out = fmt::format("{} tokens in, {} out", base::grouped(w.isl), base::grouped(w.osl));
  if (w.prefix > 0) out += fmt::format(", {} of the input cached", base::grouped(w.prefix));
  if (w.nextn > 0) {
    out += fmt::format(", {} draft tokens a step, {} accepted", w.nextn, number(w.nextn_accepted));
  }
  Assumed lengths;
  for (const std::string& name : assumed) {
    if (name == "isl" || name == "osl") lengths.push_back("--" + name);
  }
  if (!lengths.empty())
    out += fmt::format(" (assumed: {} not given)", base::join(lengths, " and "));
  return out;
}

std::string framework_line(const search::ResolvedFramework& f, bool described, bool moe) {
  const char* rests_on = f.has_tables ? "with tables"
                         : f.borrows  ? "no tables of its own: borrowed"
                         : described  ? "no tables: the roofline alone"
                                      : "no tables, embedded model only";
  std::string out =
      fmt::format("{} {}: {}; {}", f.name, f.version, rests_on, formats(f.precision, moe));
  if (!f.note.empty()) out += fmt::format(" ({})", f.note);
  return out;
}

}  // namespace

std::string subject_text(const Screen& screen, const search::Subject& subject,
                         const Assumed& assumed, const search::Resolved& resolved) {
  std::string gpus = resolved.system;
  if (!resolved.decode_system.empty() && resolved.decode_system != resolved.system) {
    gpus += fmt::format(", decode on {}", resolved.decode_system);
  }
  if (!subject.system_spec.empty()) gpus += " (as described by --spec)";
  std::string out = field(screen, "model", model_line(resolved)) + field(screen, "GPU", gpus) +
                    field(screen, "requests", requests_line(subject.workload, assumed));
  for (const search::ResolvedFramework& f : resolved.frameworks) {
    out += field(screen, &f == resolved.frameworks.data() ? "framework" : "",
                 framework_line(f, !subject.system_spec.empty(), resolved.moe));
  }
  for (const std::string& warning : resolved.warnings) out += field(screen, "note", warning);
  return out;
}

}  // namespace setpoint::report
