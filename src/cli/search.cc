// SPDX-License-Identifier: Apache-2.0
// aiconf search: the best configurations for a model on the GPUs at hand.
#include "search/search.h"

#include <fmt/format.h>

#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/save.h"
#include "cli/subject_flags.h"
#include "generate/write.h"
#include "report/configs.h"
#include "report/json.h"
#include "report/search_text.h"
#include "search/inputs.h"

namespace setpoint::cli {
namespace {

struct Inputs {
  SubjectFlags shared;
  std::string mode = "all", csv, save;
  std::optional<double> user_speed;
  std::int64_t top = 5, threads = 0;
  bool force = false;
  search::SearchRequest request;
};

constexpr std::array kSpeedFields{
    base::Field<Inputs>{"min_user_speed", &Inputs::user_speed, 0.001, 1e6, "X",
                        "tokens/s/user: a TPOT bound of 1000/X ms"},
};
constexpr std::array kRunFields{
    base::Field<Inputs>{"top", &Inputs::top, 1, 1000, "N", "Configurations to show for each mode"},
    base::Field<Inputs>{"threads", &Inputs::threads, 0, 1024, "N",
                        "0: all cores; never changes the answer"},
};

void declare(Flags& flags, Inputs& in) {
  flags.group("Search");
  flags.numbers(search::kTargetFields, in.request.target);
  flags.choice("--mode", in.mode, {"agg", "disagg", "static", "all"}, "all: agg and disagg");
  flags.numbers(search::kSlaFields, in.request.sla);
  flags.numbers(kSpeedFields, in);
  in.shared.declare_decode_system(flags);
  in.shared.declare(flags);
  flags.group("Output");
  flags.numbers(kRunFields, in);
  flags.text("--csv", in.csv, "FILE", "All points as CSV");
  flags.text("--save", in.save, "DIR", "DIR/result.json and launch files of each row shown");
  flags.toggle("--force", in.force, "--save: replace files that are there");
}

Result<search::SearchRequest> request_of(const Inputs& in) {
  search::SearchRequest request = in.request;
  SP_TRY(request.subject, in.shared.resolve());
  if (in.shared.framework != "all") request.frameworks = {in.shared.framework};
  request.decode_system = in.shared.decode_system;
  if (const auto mode = mode_named(in.mode)) request.modes = {*mode};
  if (in.user_speed) {
    const Ms bound(kMsPerS / *in.user_speed);
    request.sla.tpot = std::min(request.sla.tpot.value_or(bound), bound);
  }
  request.top = static_cast<std::size_t>(in.top);
  request.threads = static_cast<unsigned>(in.threads);
  request.keep_points = !in.csv.empty();
  return request;
}

Result<void> write_files(const Inputs& in, const search::SearchResult& result,
                         const std::string& json, const Console& console) {
  if (!in.csv.empty()) {
    SP_CHECK(base::write_file_atomically(in.csv, report::configs_csv(result.points)));
    console.note(fmt::format("{} points written to {}", result.points.size(), in.csv));
  }
  if (!in.save.empty()) {
    SP_TRY(const auto files, saved_files(json, result, console));
    SP_CHECK(generate::write_files(in.save, files, in.force));
    console.note(fmt::format("{} files written to {}", files.size(), in.save));
  }
  return {};
}

Result<int> run_search(const Inputs& in, const Strings& assumed, const Console& console) {
  SP_TRY(const search::SearchRequest request, request_of(in));
  if (!in.save.empty()) {
    const std::vector<generate::File> first{{std::string(kResultFile), "", false}};
    SP_CHECK(generate::may_write(in.save, first, in.force));
  }
  SP_TRY(const search::SearchResult result, search::search(request));
  std::string json;
  if (console.json || !in.save.empty()) {
    json = base::json_text(report::search_json(request, assumed, result), 2) + "\n";
  }
  SP_CHECK(write_files(in, result, json, console));
  SP_CHECK(console.print(
      console.json ? json : report::search_text(console.screen, request, assumed, result)));
  return result.best ? kDone : kNo;
}

}  // namespace

Action search_command(Flags& flags) {
  auto in = std::make_shared<Inputs>();
  declare(flags, *in);
  return [in, &flags](const Console& console) { return run_search(*in, assumed(flags), console); };
}

}  // namespace setpoint::cli
