// SPDX-License-Identifier: Apache-2.0
// bench.sh: measures a running deployment at and around its predicted concurrency, with the lengths
// and the shared prefix that the prediction is about. Each engine's own load generator; AIPerf for
// TensorRT-LLM, which ships none for its server. Their options, as of vLLM 0.14.0 to 0.33.0
// (random-range-ratio 0 is exact), SGLang 0.5.6.post2 to 0.5.23 (1 is exact), AIPerf 0.13.0.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "generate/shell.h"
#include "generate/target.h"

namespace setpoint::generate {
namespace {

// Shares of the predicted concurrency that are measured, and requests per client at each.
constexpr std::array kLadder{0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5};
constexpr int kWaves = 5;

std::vector<std::int64_t> ladder(const Estimate& estimate) {
  const double whole = estimate.performance.concurrency * static_cast<double>(estimate.replicas);
  std::vector<std::int64_t> steps;
  for (const double part : kLadder) {
    steps.push_back(std::max<std::int64_t>(1, std::llround(whole * part)));
  }
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

Word variable(const char* text) { return {text, true}; }
Word number(std::int64_t value) { return {std::to_string(value)}; }

struct Option {
  std::string flag;
  std::optional<Word> value = std::nullopt;
};
using Arguments = std::vector<Option>;

// vLLM counts the prefix beside the input length.
Arguments vllm(const Settings& s) {
  return {{"--backend", Word{"openai"}},
          {"--base-url", variable("$BASE_URL")},
          {"--model", Word{s.model}},
          {"--served-model-name", Word{s.served_name}},
          {"--dataset-name", Word{"random"}},
          {"--random-prefix-len", number(s.workload.prefix)},
          {"--random-input-len", number(s.workload.new_tokens())},
          {"--random-output-len", number(s.workload.osl)},
          {"--random-range-ratio", number(0)},
          {"--ignore-eos"},
          {"--max-concurrency", variable("$concurrency")},
          {"--num-prompts", variable("$requests")},
          {"--save-result"},
          {"--result-dir", variable("$RESULTS")},
          {"--result-filename", variable("concurrency-${concurrency}.json")}};
}

// Random lengths without a prefix; with one, a single group of prompts that share it.
Arguments sglang(const Settings& s) {
  Arguments options{{"--backend", Word{"sglang-oai"}},
                    {"--base-url", variable("$BASE_URL")},
                    {"--model", Word{s.served_name}},
                    {"--tokenizer", Word{s.model}},
                    {"--max-concurrency", variable("$concurrency")},
                    {"--num-prompts", variable("$requests")},
                    {"--output-file", variable("${RESULTS}/concurrency-${concurrency}.jsonl")}};
  const Arguments random{{"--dataset-name", Word{"random-ids"}},
                         {"--random-input-len", number(s.workload.isl)},
                         {"--random-output-len", number(s.workload.osl)},
                         {"--random-range-ratio", number(1)}};
  const Arguments shared{{"--dataset-name", Word{"generated-shared-prefix"}},
                         {"--gsp-num-groups", number(1)},
                         {"--gsp-prompts-per-group", variable("$requests")},
                         {"--gsp-system-prompt-len", number(s.workload.prefix)},
                         {"--gsp-question-len", number(s.workload.new_tokens())},
                         {"--gsp-output-len", number(s.workload.osl)}};
  const Arguments& lengths = s.workload.prefix == 0 ? random : shared;
  options.insert(options.end(), lengths.begin(), lengths.end());
  return options;
}

Arguments aiperf(const Settings& s) {
  Arguments options{{"--model", Word{s.served_name}},
                    {"--tokenizer", Word{s.model}},
                    {"--url", variable("$BASE_URL")},
                    {"--endpoint-type", Word{"completions"}},
                    {"--streaming"},
                    {"--concurrency", variable("$concurrency")},
                    {"--request-count", variable("$requests")},
                    {"--synthetic-input-tokens-mean", number(s.workload.new_tokens())},
                    {"--synthetic-input-tokens-stddev", number(0)},
                    {"--output-tokens-mean", number(s.workload.osl)},
                    {"--output-tokens-stddev", number(0)},
                    {"--extra-inputs", Word{"ignore_eos:true"}},
                    {"--artifact-dir", variable("${RESULTS}/concurrency-${concurrency}")}};
  if (s.workload.prefix > 0) {
    options.push_back({"--num-prefix-prompts", number(1)});
    options.push_back({"--prefix-prompt-length", number(s.workload.prefix)});
  }
  return options;
}

struct Generator {
  std::string_view framework;
  std::array<std::string_view, 3> program;
  Arguments (*options)(const Settings& settings);
};
constexpr std::array kGenerators{
    Generator{"trtllm", {"aiperf", "profile"}, aiperf},  // and for an engine without its own
    Generator{"vllm", {"vllm", "bench", "serve"}, vllm},
    Generator{"sglang", {"python3", "-m", "sglang.bench_serving"}, sglang}};

Command load(const Settings& settings) {
  const auto* found =
      std::find_if(kGenerators.begin(), kGenerators.end(),
                   [&](const Generator& one) { return one.framework == settings.framework; });
  const Generator& generator = found == kGenerators.end() ? kGenerators.front() : *found;
  Command command;
  for (const std::string_view word : generator.program) {
    if (!word.empty()) command.argv.push_back({std::string(word)});
  }
  for (const Option& option : generator.options(settings)) {
    command.argv.push_back({option.flag});
    if (option.value) command.argv.push_back(*option.value);
  }
  return command;
}

}  // namespace

File bench_file(const Plan& plan) {
  const Estimate& estimate = plan.deployment->estimate;
  const Performance& predicted = estimate.performance;
  std::string steps;
  for (const std::int64_t step : ladder(estimate)) steps += " " + std::to_string(step);
  const double replicas = static_cast<double>(estimate.replicas);
  return {"bench.sh",
          fmt::format(
              "#!/usr/bin/env bash\n"
              "# Measures the running deployment at and around its predicted point:\n"
              "# {:.0f} requests in flight, {:.1f} ms to the first token, {:.2f} ms a token after "
              "it, {:.0f} tokens/s.\n"
              "# BASE_URL: where clients connect. RESULTS: folder of the measurements, one a "
              "concurrency.\n"
              "set -euo pipefail\n"
              "BASE_URL=${{BASE_URL:-http://localhost:{}}}\n"
              "RESULTS=${{RESULTS:-results}}\n"
              "mkdir -p \"$RESULTS\"\n"
              "for concurrency in{}; do\n"
              "  requests=$((concurrency * {}))\n"
              "{}\n"
              "done\n"
              "echo \"measurements are in $RESULTS\"\n",
              predicted.concurrency * replicas, predicted.ttft.value(), predicted.tpot.value(),
              predicted.tokens_per_s * replicas, plan.options.port, steps, kWaves,
              shell_command(load(plan.settings), 2)),
          true};
}

}  // namespace setpoint::generate
