// SPDX-License-Identifier: Apache-2.0
// aiconf estimate: one given configuration, or one for each line of a file of requests.
#include "search/estimate.h"

#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/request_lines.h"
#include "cli/subject_flags.h"
#include "report/estimate_text.h"
#include "report/json.h"
#include "search/inputs.h"

namespace setpoint::cli {
namespace {

struct Inputs {
  SubjectFlags shared;
  std::string mode = "agg", prefill, decode, requests;
  search::EstimateRequest request;
};

void declare(Flags& flags, Inputs& in) {
  flags.group("Configuration");
  flags.choice("--mode", in.mode, {"agg", "disagg", "static"}, "How requests are served");
  flags.numbers(search::kWorkerFields, in.request.worker);
  flags.numbers(search::kRequestFields, in.request);
  flags.text("--prefill", in.prefill, "K=V,..", "disagg: tp=1,pp=1,dp=1,ep=1,batch=1,workers=3");
  flags.text("--decode", in.decode, "K=V,..", "disagg: likewise");
  in.shared.declare_decode_system(flags);
  in.shared.declare(flags);
  flags.group("Engine settings (default: the framework's)");
  flags.numbers(search::kEngineFields, in.request.settings);
  flags.group("Output");
  flags.toggle("--breakdown", in.request.breakdown, "Every operator's time");
  flags.text("--requests", in.requests, "FILE",
             "Instead: a JSON request a line (-: standard input)");
  flags.instead_of_required("--requests");
}

// "tp=2,dp=2,ep=4,batch=96,workers=1"
Result<search::WorkerSpec> parse_worker(const std::string& flag, const std::string& text) {
  search::WorkerSpec worker;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto [key, value] = base::split_pair(part);
    const std::string& name = key;
    Strings known;
    const search::Field<search::WorkerSpec>* found = nullptr;
    const auto look = [&](const auto& fields) {
      for (const auto& field : fields) {
        known.push_back(field.flag());
        // also as the JSON document names it
        if (known.back() == name || field.name == name) found = &field;
      }
    };
    look(search::kWorkerFields);
    look(search::kPoolFields);
    if (found == nullptr) {
      return Error::bad_input(flag + ": " + base::unknown_name("key", name, known));
    }
    const auto number = base::parse_number(value.value_or(""), found->range());
    if (!number) return number.error().at(flag + ": " + name);
    found->set(worker, *number);
  }
  return worker;
}

Result<search::EstimateRequest> request_of(const Inputs& in) {
  search::EstimateRequest request = in.request;
  SP_TRY(request.subject, in.shared.resolve());
  if (in.shared.framework != "all") request.framework = in.shared.framework;
  request.decode_system = in.shared.decode_system;
  request.mode = *mode_named(in.mode);
  const bool disagg = request.mode == Mode::disagg;
  if (disagg != !in.prefill.empty() || disagg != !in.decode.empty()) {
    return Error::bad_input(
        "--prefill and --decode: expected both with --mode disagg, else neither");
  }
  if (disagg) {
    SP_TRY(request.prefill, parse_worker("--prefill", in.prefill));
    SP_TRY(request.decode, parse_worker("--decode", in.decode));
  } else if (request.worker.batch.has_value() == request.concurrency.has_value()) {
    return Error::bad_input("--batch, --concurrency: expected exactly one of the two");
  }
  return request;
}

Result<int> answer_requests(const std::string& path, const Console& console) {
  search::Estimator estimator;
  return answer_lines(path, console, [&](const base::JsonView& line) -> Result<base::Json> {
    SP_TRY(const search::EstimateRequest request, search::parse_request(line));
    SP_TRY(const search::EstimateAnswer answer, estimator.answer(request));
    return report::answer_json(answer);
  });
}

Result<int> run_estimate(const Inputs& in, const Strings& assumed, const Console& console) {
  if (!in.requests.empty()) return answer_requests(in.requests, console);
  SP_TRY(const search::EstimateRequest request, request_of(in));
  const auto estimated = search::estimate(request);
  if (!estimated && estimated.error().code == ErrorCode::no && console.json) {
    SP_CHECK(console.print(base::json_text({{"error", estimated.error().text}}, 2) + "\n"));
    return kNo;
  }
  SP_TRY(const search::EstimateAnswer answer, estimated);
  SP_CHECK(console.print(
      console.json ? base::json_text(report::estimate_json(request, assumed, answer), 2) + "\n"
                   : report::estimate_text(console.screen, request, assumed, answer)));
  return answer.estimate ? kDone : kNo;
}

}  // namespace

Action estimate_command(Flags& flags) {
  auto in = std::make_shared<Inputs>();
  declare(flags, *in);
  return
      [in, &flags](const Console& console) { return run_estimate(*in, assumed(flags), console); };
}

}  // namespace setpoint::cli
