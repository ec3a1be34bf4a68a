// SPDX-License-Identifier: Apache-2.0
// aiconf estimate: one given configuration, or one for each line of a file of requests.
#include "search/estimate.h"

#include <memory>

#include "cli/command.h"
#include "cli/estimate_flags.h"
#include "cli/request_lines.h"
#include "report/estimate_text.h"
#include "report/json.h"

namespace setpoint::cli {
namespace {

struct Inputs {
  EstimateFlags configuration;
  std::string requests;
};

void declare(Flags& flags, Inputs& in) {
  in.configuration.declare(flags);
  flags.group("Output");
  flags.toggle("--breakdown", in.configuration.request.breakdown, "Every operator's time");
  flags.text("--requests", in.requests, "FILE",
             "Instead: a JSON request a line (-: standard input)");
  flags.instead_of_required("--requests");
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
  SP_TRY(const search::EstimateRequest request, in.configuration.resolve());
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
