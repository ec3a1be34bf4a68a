// SPDX-License-Identifier: Apache-2.0
// aiconf estimate: one given configuration, or one for each line of a file of requests.
#include "search/estimate.h"

#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "base/json.h"
#include "cli/command.h"
#include "cli/request_lines.h"
#include "cli/subject_flags.h"
#include "report/estimate_text.h"
#include "report/json.h"

namespace setpoint::cli {
namespace {

constexpr Numbers kShares{0.01, 1};

struct Inputs {
  SubjectFlags shared;
  std::string mode = "agg", prefill, decode, requests;
  search::EstimateRequest request;
};

void declare(Flags& flags, Inputs& in) {
  search::WorkerSpec& w = in.request.worker;
  flags.group("Configuration");
  flags.choice("--mode", in.mode, {"agg", "disagg", "static"}, "How requests are served");
  flags.integer("--tp", w.tp, kWidths, "N", "Tensor parallel");
  flags.integer("--pp", w.pp, kWidths, "N", "Pipeline parallel");
  flags.integer("--dp", w.dp, kWidths, "N", "Data-parallel attention");
  flags.integer("--cp", w.cp, kWidths, "N", "Context parallel");
  flags.integer("--ep", w.moe_ep, kWidths, "N", "Expert parallel; missing: follows from --moe-tp");
  flags.integer("--moe-tp", w.moe_tp, kWidths, "N", "Cut of each expert; missing: from --ep");
  flags.integer("--batch", w.batch, kCounts, "N", "Requests at once per rank; or:");
  flags.integer("--concurrency", in.request.concurrency, kCounts, "C",
                "Requests in flight over the deployment");
  flags.integer("--gpus", in.request.gpus, kWidths, "N", "Count rates per GPU over these");
  flags.text("--prefill", in.prefill, "K=V,..", "disagg: tp=1,pp=1,dp=1,ep=1,batch=1,workers=3");
  flags.text("--decode", in.decode, "K=V,..", "disagg: likewise");
  flags.text("--decode-system", in.shared.decode_system, "GPU", "Other GPUs for decode workers");
  in.shared.declare(flags, "vllm");
  search::EngineSettings& s = in.request.settings;
  flags.group("Engine settings (default: the framework's)");
  flags.integer("--chunk-tokens", s.chunk_tokens, kTokens, "N", "Prompt tokens of one step");
  flags.integer("--max-num-tokens", s.max_num_tokens, kTokens, "N", "All tokens of one step");
  flags.integer("--max-num-seqs", s.max_num_seqs, kCounts, "N", "Requests at once per rank");
  flags.number("--memory-fraction", s.memory_fraction, kShares, "X", "Share of GPU memory");
  flags.integer("--kv-tokens", s.kv_tokens, {1, 1'000'000'000'000}, "N",
                "The engine's own KV pool figure, per rank");
  flags.group("Output");
  flags.toggle("--breakdown", in.request.breakdown, "Every operator's time");
  flags.text("--requests", in.requests, "FILE",
             "Instead: a JSON request a line (-: standard input)");
}

Result<search::EstimateRequest> request_of(const Inputs& in) {
  search::EstimateRequest request = in.request;
  SP_TRY(request.subject, in.shared.resolve());
  request.framework = in.shared.framework;
  request.decode_system = in.shared.decode_system;
  for (std::size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == in.mode) request.mode = static_cast<Mode>(i);
  }
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

Result<int> run_estimate(const Inputs& in, const std::vector<std::string>& assumed,
                         const Console& console) {
  if (!in.requests.empty()) return answer_lines(in.requests, console);
  SP_TRY(const search::EstimateRequest request, request_of(in));
  SP_TRY(const search::EstimateAnswer answer, search::estimate(request));
  SP_CHECK(console.print(console.json
                             ? report::estimate_json(request, assumed, answer).dump(2) + "\n"
                             : report::estimate_text(console.screen, request, assumed, answer)));
  return answer.estimate ? kDone : kNo;
}

}  // namespace

Action estimate_command(Flags& flags) {
  auto in = std::make_shared<Inputs>();
  declare(flags, *in);
  flags.instead_of_required("--requests");
  return
      [in, &flags](const Console& console) { return run_estimate(*in, assumed(flags), console); };
}

}  // namespace setpoint::cli
