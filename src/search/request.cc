// SPDX-License-Identifier: Apache-2.0
// Request lines: one JSON object a line, in the keys of docs/cli.md.
#include <fmt/format.h>

#include <array>

#include "base/json.h"
#include "base/text.h"
#include "search/check.h"
#include "search/estimate.h"

namespace setpoint::search {
namespace {

using base::JsonView;

constexpr std::int64_t kMostWidth = kMostGpus;
constexpr std::int64_t kMostCount = 1'000'000'000;

Result<void> read(const JsonView& at, std::string_view key, std::int64_t least, std::int64_t most,
                  std::int64_t& out) {
  if (const auto found = at.find(key)) {
    SP_TRY(out, found->integer(least, most));
  }
  return {};
}
Result<void> read(const JsonView& at, std::string_view key, std::int64_t least, std::int64_t most,
                  int& out) {
  std::int64_t value = out;
  SP_CHECK(read(at, key, least, most, value));
  out = static_cast<int>(value);
  return {};
}
template <class Number>
Result<void> read(const JsonView& at, std::string_view key, std::int64_t least, std::int64_t most,
                  std::optional<Number>& out) {
  if (const auto found = at.find(key)) {
    SP_TRY(const std::int64_t value, found->integer(least, most));
    out = static_cast<Number>(value);
  }
  return {};
}
Result<void> read(const JsonView& at, std::string_view key, double least, double most,
                  double& out) {
  if (const auto found = at.find(key)) {
    SP_TRY(out, found->number(least, most));
  }
  return {};
}
Result<void> read(const JsonView& at, std::string_view key, std::string& out) {
  if (const auto found = at.find(key)) {
    SP_TRY(out, found->string());
  }
  return {};
}

// A word of a closed list, or its index unchanged when the key is absent.
Result<void> read_word(const JsonView& at, std::string_view key,
                       const std::vector<std::string>& words, std::size_t& out) {
  const auto found = at.find(key);
  if (!found) return {};
  SP_TRY(const std::string word, found->string());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) {
      out = i;
      return {};
    }
  }
  return found->error(base::unknown_name(key, word, words));
}

Result<WorkerSpec> read_worker(const JsonView& at, std::string_view count_key) {
  WorkerSpec w;
  SP_CHECK(read(at, "tp", 1, kMostWidth, w.tp));
  SP_CHECK(read(at, "pp", 1, kMostWidth, w.pp));
  SP_CHECK(read(at, "dp", 1, kMostWidth, w.dp));
  SP_CHECK(read(at, "cp", 1, kMostWidth, w.cp));
  SP_CHECK(read(at, "moe_tp", 1, kMostWidth, w.moe_tp));
  SP_CHECK(read(at, "moe_ep", 1, kMostWidth, w.moe_ep));
  SP_CHECK(read(at, "batch", 1, kMostCount, w.batch));
  if (!count_key.empty()) SP_CHECK(read(at, count_key, 1, kMostWidth, w.workers));
  return w;
}

Result<WorkerSpec> read_pool(const JsonView& at) {
  static const std::vector<std::string> known{"workers", "tp",     "pp", "dp",
                                              "moe_tp",  "moe_ep", "cp", "batch"};
  SP_CHECK(at.only(known));
  return read_worker(at, "workers");
}

Result<std::vector<model::QuantOverride>> read_quant(const JsonView& at) {
  std::vector<model::QuantOverride> out;
  if (!at.is_object()) return at.error("expected an object such as {\"kv\": \"fp8\"}");
  for (const std::string& key : at.keys()) {
    SP_TRY(const auto value, at.at(key));
    SP_TRY(const std::string mode, value.string());
    out.push_back({key, mode});
  }
  return out;
}

Result<Load> read_load(const JsonView& at) {
  static const std::vector<std::string> known{"kind", "waves", "len_ratio", "rate"};
  SP_CHECK(at.only(known));
  Load load;
  SP_CHECK(at.at("kind"));
  std::size_t kind = 0;
  SP_CHECK(read_word(at, "kind", {"closed", "open"}, kind));
  load.kind = kind == 0 ? Load::Kind::closed : Load::Kind::open;
  SP_CHECK(read(at, "waves", 1, kMostCount, load.waves));
  SP_CHECK(read(at, "len_ratio", 0.001, 1000.0, load.len_ratio));
  SP_CHECK(read(at, "rate", 1e-9, 1e9, load.rate));
  if (load.kind == Load::Kind::open && load.rate <= 0) {
    return at.error("an open workload needs \"rate\", requests per second");
  }
  return load;
}

Result<void> read_settings(const JsonView& at, EngineSettings& out) {
  SP_CHECK(read(at, "chunk_tokens", 1, kMostCount, out.chunk_tokens));
  SP_CHECK(read(at, "max_num_tokens", 1, kMostCount, out.max_num_tokens));
  SP_CHECK(read(at, "max_num_seqs", 1, kMostCount, out.max_num_seqs));
  SP_CHECK(read(at, "kv_tokens", 1, std::int64_t{1} << 50, out.kv_tokens));
  SP_CHECK(read(at, "poll_steps", 1, kMostCount, out.poll_steps));
  if (const auto found = at.find("memory_fraction")) {
    SP_TRY(out.memory_fraction, found->number(0.01, 1));
  }
  if (const auto found = at.find("prompt_cache")) {
    SP_TRY(out.prompt_cache, found->boolean());
  }
  return {};
}

Result<void> read_subject(const JsonView& at, Subject& s) {
  SP_TRY(const auto model, at.at("model"));
  SP_TRY(s.model, model.string());
  SP_TRY(const auto system, at.at("system"));
  SP_TRY(s.system, system.string());
  SP_TRY(const auto isl, at.at("isl"));
  SP_TRY(s.workload.isl, isl.integer(1, kMostCount));
  SP_TRY(const auto osl, at.at("osl"));
  SP_TRY(s.workload.osl, osl.integer(1, kMostCount));
  SP_CHECK(read(at, "precision", s.precision));
  SP_CHECK(read(at, "framework_version", s.framework_version));
  SP_CHECK(read(at, "prefix", 0, kMostCount, s.workload.prefix));
  SP_CHECK(read(at, "nextn", 0, kMostCount, s.workload.nextn));
  SP_CHECK(read(at, "nextn_accepted", 0.0, 1e9, s.workload.nextn_accepted));
  if (const auto found = at.find("alpha")) {
    SP_TRY(s.alpha, found->number(0, 10));
  }
  if (const auto found = at.find("quant")) {
    SP_TRY(s.quant, read_quant(*found));
  }
  return check(s.workload);
}

const std::vector<std::string>& known_keys() {
  static const std::vector<std::string> keys{"id",
                                             "model",
                                             "precision",
                                             "system",
                                             "framework",
                                             "isl",
                                             "osl",
                                             "prefix",
                                             "concurrency",
                                             "framework_version",
                                             "mode",
                                             "tp",
                                             "pp",
                                             "dp",
                                             "moe_tp",
                                             "moe_ep",
                                             "cp",
                                             "batch",
                                             "quant",
                                             "workload",
                                             "nextn",
                                             "prefill",
                                             "decode",
                                             "alpha",
                                             "nextn_accepted",
                                             "gpus",
                                             "chunk_tokens",
                                             "max_num_seqs",
                                             "poll_steps",
                                             "max_num_tokens",
                                             "kv_tokens",
                                             "prompt_cache",
                                             "memory_fraction",
                                             "decode_system"};
  return keys;
}

}  // namespace

Result<EstimateRequest> parse_request(std::string_view json, const std::string& where) {
  SP_TRY(const base::Json document, base::parse_json(json, where));
  const JsonView at(document, where);
  if (!at.is_object()) return at.error("expected a JSON object");
  SP_CHECK(at.only(known_keys()));
  EstimateRequest out;
  SP_CHECK(read(at, "id", out.id));
  SP_CHECK(read_subject(at, out.subject));
  const auto& frameworks = framework::framework_names();
  std::size_t framework = 0;
  SP_CHECK(read_word(at, "framework", frameworks, framework));
  out.framework = frameworks[framework];
  std::size_t mode = 0;
  SP_CHECK(read_word(at, "mode", {kModeNames.begin(), kModeNames.end()}, mode));
  out.mode = static_cast<Mode>(mode);
  SP_CHECK(read(at, "decode_system", out.decode_system));
  SP_CHECK(read(at, "concurrency", 1, kMostCount, out.concurrency));
  SP_CHECK(read(at, "gpus", 1, kMostGpus, out.gpus));
  SP_TRY(out.worker, read_worker(at, ""));
  for (const auto& [key, spec] : {std::pair{"prefill", &out.prefill}, {"decode", &out.decode}}) {
    const auto found = at.find(key);
    if (found && out.mode != Mode::disagg) return found->error("belongs to mode disagg");
    if (!found && out.mode == Mode::disagg)
      return at.error(fmt::format("mode disagg needs \"{}\"", key));
    if (found) {
      SP_TRY(*spec, read_pool(*found));
    }
  }
  if (const auto found = at.find("workload")) {
    SP_TRY(out.load, read_load(*found));
  }
  SP_CHECK(read_settings(at, out.settings));
  return out;
}

}  // namespace setpoint::search
