// SPDX-License-Identifier: Apache-2.0
// aiconf search: the best configurations for a model on the GPUs at hand.
#include "search/search.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/subject_flags.h"
#include "report/configs.h"
#include "report/json.h"
#include "report/search_text.h"

namespace setpoint::cli {
namespace {

constexpr Integers kTop{1, 1000};
constexpr Integers kThreads{0, 1024};
constexpr Numbers kRates{1e-6, 1e9};
constexpr Numbers kSpeeds{0.001, 1e6};

struct Inputs {
  SubjectFlags shared;
  std::string mode = "all", csv, save;
  std::optional<std::int64_t> gpus, concurrency;
  std::optional<double> rate, user_speed;
  Sla sla;
  std::int64_t top = 5, threads = 0;
};

void declare(Flags& flags, Inputs& in) {
  flags.group("Search");
  flags.integer("--gpus", in.gpus, kWidths, "N", "GPUs to use; or, for the fewest that serve it:");
  flags.number("--target-rate", in.rate, kRates, "R", "requests/s to serve");
  flags.integer("--target-concurrency", in.concurrency, kCounts, "C", "requests in flight");
  flags.choice("--mode", in.mode, {"agg", "disagg", "static", "all"}, "all: agg and disagg");
  flags.number("--ttft", in.sla.ttft, kMilliseconds, "MS", "Bound on time to first token");
  flags.number("--tpot", in.sla.tpot, kMilliseconds, "MS", "Bound on time per output token");
  flags.number("--request-latency", in.sla.request_latency, kMilliseconds, "MS",
               "Bound on the whole request");
  flags.number("--min-user-speed", in.user_speed, kSpeeds, "X",
               "tokens/s/user: a TPOT bound of 1000/X ms");
  flags.text("--decode-system", in.shared.decode_system, "GPU", "Other GPUs for decode workers");
  flags.integer("--threads", in.threads, kThreads, "N", "0: all cores; never changes the answer");
  in.shared.declare(flags, "all");
  flags.group("Output");
  flags.integer("--top", in.top, kTop, "N", "Configurations to show for each mode");
  flags.text("--csv", in.csv, "FILE", "All points as CSV");
  flags.text("--save", in.save, "DIR", "Write the result as JSON to DIR/result.json");
}

Result<search::Target> target_of(const Inputs& in) {
  const int given =
      int(in.gpus.has_value()) + int(in.rate.has_value()) + int(in.concurrency.has_value());
  if (given != 1) {
    return Error::bad_input(fmt::format(
        "expected exactly one of --gpus, --target-rate and --target-concurrency, found {}", given));
  }
  return search::Target{in.gpus.value_or(0), in.rate.value_or(0), in.concurrency.value_or(0)};
}

std::vector<Mode> modes_of(const std::string& name) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == name) return {static_cast<Mode>(i)};
  }
  return {Mode::agg, Mode::disagg};
}

Result<search::SearchRequest> request_of(const Inputs& in) {
  search::SearchRequest request;
  SP_TRY(request.subject, in.shared.resolve());
  SP_TRY(request.target, target_of(in));
  if (in.shared.framework != "all") request.frameworks = {in.shared.framework};
  request.decode_system = in.shared.decode_system;
  request.modes = modes_of(in.mode);
  request.sla = in.sla;
  if (in.user_speed) {
    const Ms bound(kMsPerS / *in.user_speed);
    request.sla.tpot = request.sla.tpot ? std::min(*request.sla.tpot, bound) : bound;
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
    std::error_code failed;
    std::filesystem::create_directories(in.save, failed);
    if (failed) {
      return Error::environment(fmt::format("--save {}: {}", in.save, failed.message()));
    }
    const auto file = std::filesystem::path(in.save) / "result.json";
    SP_CHECK(base::write_file_atomically(file, json));
    console.note(fmt::format("result written to {}", file.string()));
  }
  return {};
}

Result<int> run_search(const Inputs& in, const std::vector<std::string>& assumed,
                       const Console& console) {
  SP_TRY(const search::SearchRequest request, request_of(in));
  SP_TRY(const search::SearchResult result, search::search(request));
  std::string json;
  if (console.json || !in.save.empty()) {
    json = report::search_json(request, assumed, result).dump(2) + "\n";
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
