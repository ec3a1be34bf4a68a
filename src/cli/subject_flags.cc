// SPDX-License-Identifier: Apache-2.0
#include "cli/subject_flags.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "framework/framework.h"

namespace setpoint::cli {
namespace {

constexpr Integers kDrafts{0, 64};
constexpr Numbers kAccepted{0, 64};
constexpr Numbers kAlpha{0, 10};

// The inputs whose default decides an answer, by flag and by name in JSON.
struct Input {
  const char* flag;
  const char* name;
};
constexpr std::array kInputs{Input{"--isl", "isl"},
                             Input{"--osl", "osl"},
                             Input{"--prefix", "prefix"},
                             Input{"--framework", "framework"},
                             Input{"--framework-version", "framework_version"},
                             Input{"--alpha", "alpha"},
                             Input{"--data", "data"}};

// "KEY=VALUE" at the first '='; without one the value is missing.
std::pair<std::string, std::optional<std::string>> split(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

struct WorkerKey {
  std::string_view key;
  Integers range;
  void (*set)(search::WorkerSpec&, std::int64_t);
};
constexpr std::array kWorkerKeys{
    WorkerKey{"tp", kWidths, [](search::WorkerSpec& w, std::int64_t v) { w.tp = int(v); }},
    WorkerKey{"pp", kWidths, [](search::WorkerSpec& w, std::int64_t v) { w.pp = int(v); }},
    WorkerKey{"dp", kWidths, [](search::WorkerSpec& w, std::int64_t v) { w.dp = int(v); }},
    WorkerKey{"cp", kWidths, [](search::WorkerSpec& w, std::int64_t v) { w.cp = int(v); }},
    WorkerKey{"ep", kWidths, [](search::WorkerSpec& w, std::int64_t v) { w.moe_ep = int(v); }},
    WorkerKey{"moe-tp", kWidths, [](search::WorkerSpec& w, std::int64_t v) { w.moe_tp = int(v); }},
    WorkerKey{"batch", kCounts, [](search::WorkerSpec& w, std::int64_t v) { w.batch = v; }},
    WorkerKey{"workers", kWidths, [](search::WorkerSpec& w, std::int64_t v) { w.workers = v; }},
};

}  // namespace

void SubjectFlags::declare(Flags& flags, const std::string& default_framework) {
  framework = default_framework;
  std::vector<std::string> frameworks = framework::framework_names();
  if (framework == "all") frameworks.push_back(framework);
  flags.group("Model and GPU");
  flags.text("--model", subject.model, "MODEL", "Hugging Face id, folder or config.json");
  flags.text("--system", subject.system, "GPU", "GPU system, e.g. h200_sxm (aiconf systems)");
  flags.text("--spec", subject.system_spec, "K=V,..",
             "--system is a new GPU: mem=GiB,bw=GB/s,bf16=TFLOP/s..");
  flags.choice("--framework", framework, frameworks, "Serving framework");
  flags.text("--framework-version", subject.framework_version, "V",
             "A version that has tables; default: current");
  flags.choice("--precision", subject.precision, {"bf16", "fp8", "fp4", "int4"},
               "The published checkpoint of that precision");
  flags.texts("--quant", quant, "KEY=MODE", "Override gemm, moe, kv, fmha or comm; repeatable");
  flags.number("--alpha", subject.alpha, kAlpha, "A", "MoE load skew; default: the family's");
  flags.group("Requests");
  flags.integer("--isl", subject.workload.isl, kTokens, "TOKENS", "Tokens in");
  flags.integer("--osl", subject.workload.osl, kTokens, "TOKENS", "Tokens out");
  flags.integer("--prefix", subject.workload.prefix, {0, kTokens.most}, "TOKENS",
                "Of the tokens in, already cached");
  flags.integer("--nextn", subject.workload.nextn, kDrafts, "N", "Draft tokens a step");
  flags.number("--nextn-accepted", subject.workload.nextn_accepted, kAccepted, "X",
               "Mean drafts accepted");
  flags.group("Data");
  flags.choice("--data", data, {"measured", "hybrid", "roofline"}, "What answers may rest on");
  flags.text("--db", database, "FILE", "PerfDatabase; default: $SETPOINT_DB, user, installed");
  flags.require("--model");
  flags.require("--system");
}

Result<search::Subject> SubjectFlags::resolve() const {
  search::Subject out = subject;
  for (const std::string& text : quant) {
    const auto [key, mode] = split(text);
    if (!mode)
      return Error::bad_input(fmt::format("--quant: expected KEY=MODE, found \"{}\"", text));
    out.quant.push_back({key, *mode});
  }
  const Workload& w = out.workload;
  if (w.prefix >= w.isl) {
    return Error::bad_input(
        fmt::format("--prefix: expected less than --isl ({}), found {}", w.isl, w.prefix));
  }
  if (w.nextn_accepted > w.nextn) {
    return Error::bad_input(fmt::format("--nextn-accepted: expected at most --nextn ({}), found {}",
                                        w.nextn, w.nextn_accepted));
  }
  constexpr std::array kModes{perfdb::DataMode::measured, perfdb::DataMode::hybrid,
                              perfdb::DataMode::roofline};
  constexpr std::array kModeLetters{'m', 'h', 'r'};
  for (std::size_t i = 0; i < kModes.size(); ++i) {
    if (data.front() == kModeLetters[i]) out.data = kModes[i];
  }
  out.database = database;
  return out;
}

std::vector<std::string> assumed(const Flags& flags) {
  std::vector<std::string> out;
  for (const Input& input : kInputs) {
    if (!flags.given(input.flag)) out.emplace_back(input.name);
  }
  return out;
}

Result<search::WorkerSpec> parse_worker(const std::string& flag, const std::string& text) {
  search::WorkerSpec worker;
  std::vector<std::string> known;
  for (const WorkerKey& key : kWorkerKeys) known.emplace_back(key.key);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto [name, value] = split(text.substr(begin, end - begin));
    begin = end + 1;
    const auto found = std::find_if(kWorkerKeys.begin(), kWorkerKeys.end(),
                                    [&](const WorkerKey& k) { return k.key == name; });
    if (found == kWorkerKeys.end()) {
      return Error::bad_input(flag + ": " + base::unknown_name("key", name, known));
    }
    const auto number = parse_integer(value.value_or(""), found->range);
    if (!number) return number.error().at(fmt::format("{}: {}", flag, name));
    found->set(worker, *number);
  }
  return worker;
}

}  // namespace setpoint::cli
