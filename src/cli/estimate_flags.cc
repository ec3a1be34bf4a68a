// SPDX-License-Identifier: Apache-2.0
#include "cli/estimate_flags.h"

#include <sstream>

#include "base/text.h"
#include "search/inputs.h"

namespace setpoint::cli {
namespace {

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

}  // namespace

void EstimateFlags::declare(Flags& flags) {
  flags.group("Configuration");
  flags.choice("--mode", mode, {"agg", "disagg", "static"}, "How requests are served");
  flags.numbers(search::kWorkerFields, request.worker);
  flags.numbers(search::kRequestFields, request);
  flags.text("--prefill", prefill, "K=V,..", "disagg: tp=1,pp=1,dp=1,ep=1,batch=1,workers=3");
  flags.text("--decode", decode, "K=V,..", "disagg: likewise");
  shared.declare_decode_system(flags);
  shared.declare(flags);
  flags.group("Engine settings (default: the framework's)");
  flags.numbers(search::kEngineFields, request.settings);
}

Result<search::EstimateRequest> EstimateFlags::resolve() const {
  search::EstimateRequest out = request;
  SP_TRY(out.subject, shared.resolve());
  if (shared.framework != "all") out.framework = shared.framework;
  out.decode_system = shared.decode_system;
  out.mode = *mode_named(mode);
  const bool disagg = out.mode == Mode::disagg;
  if (disagg != !prefill.empty() || disagg != !decode.empty()) {
    return Error::bad_input(
        "--prefill and --decode: expected both with --mode disagg, else neither");
  }
  if (disagg) {
    SP_TRY(out.prefill, parse_worker("--prefill", prefill));
    SP_TRY(out.decode, parse_worker("--decode", decode));
  } else if (out.worker.batch.has_value() == out.concurrency.has_value()) {
    return Error::bad_input("--batch, --concurrency: expected exactly one of the two");
  }
  return out;
}

}  // namespace setpoint::cli
