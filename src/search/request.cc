// SPDX-License-Identifier: Apache-2.0
// Request lines: one JSON object a line, in the keys of docs/cli.md.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "search/inputs.h"

namespace setpoint::search {
namespace {

using base::JsonView;
using Strings = std::vector<std::string>;

template <class T, std::size_t N>
void add_names(const std::array<Field<T>, N>& fields, Strings& names) {
  for (const Field<T>& field : fields) names.emplace_back(field.name);
}

Strings pool_keys() {
  Strings keys;
  add_names(kWorkerFields, keys);
  add_names(kPoolFields, keys);
  return keys;
}

Strings request_keys() {
  Strings keys{"id",          "model", "precision", "system",  "framework", "framework_version",
               "mode",        "quant", "workload",  "prefill", "decode",    "decode_system",
               "prompt_cache"};
  add_names(kWorkloadFields, keys);
  add_names(kSubjectFields, keys);
  add_names(kWorkerFields, keys);
  add_names(kRequestFields, keys);
  add_names(kEngineFields, keys);
  return keys;
}

// A member as text; unchanged when it is absent.
Result<void> read_text(const JsonView& at, std::string_view key, std::string& out) {
  if (const auto found = at.find(key)) {
    SP_TRY(out, found->string());
  }
  return {};
}

// A word of a closed list as its index.
Result<std::size_t> read_word(const JsonView& at, std::string_view key, const Strings& words) {
  const auto found = at.find(key);
  if (!found) return std::size_t{0};
  SP_TRY(const std::string word, found->string());
  const auto known = std::find(words.begin(), words.end(), word);
  if (known == words.end()) return found->error(base::unknown_name(key, word, words));
  return static_cast<std::size_t>(known - words.begin());
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
  Strings keys{"kind"};
  add_names(kLoadFields, keys);
  SP_CHECK(at.only(keys));
  SP_CHECK(at.at("kind"));
  Load load;
  SP_TRY(const std::size_t kind, read_word(at, "kind", {"closed", "open"}));
  load.kind = kind == 0 ? Load::Kind::closed : Load::Kind::open;
  SP_CHECK(base::read(kLoadFields, at, load));
  if (load.kind == Load::Kind::open && load.rate <= 0) {
    return at.error("an open workload needs \"rate\", requests per second");
  }
  return load;
}

Result<void> read_subject(const JsonView& at, Subject& s) {
  for (const char* key : {"model", "system", "isl", "osl"}) SP_CHECK(at.at(key));
  SP_CHECK(read_text(at, "model", s.model));
  SP_CHECK(read_text(at, "system", s.system));
  SP_CHECK(read_text(at, "precision", s.precision));
  SP_CHECK(read_text(at, "framework_version", s.framework_version));
  SP_CHECK(base::read(kWorkloadFields, at, s.workload));
  SP_CHECK(base::read(kSubjectFields, at, s));
  if (const auto found = at.find("quant")) {
    SP_TRY(s.quant, read_quant(*found));
  }
  const auto sound = check(s);
  return sound ? sound : sound.error().at(at.path());
}

Result<void> read_pools(const JsonView& at, EstimateRequest& out) {
  for (const auto& [key, spec] : {std::pair{"prefill", &out.prefill}, {"decode", &out.decode}}) {
    const auto found = at.find(key);
    const bool wanted = out.mode == Mode::disagg;
    if (found && !wanted) return found->error("belongs to mode disagg");
    if (!found && wanted) return at.error(fmt::format("mode disagg needs \"{}\"", key));
    if (!found) continue;
    SP_CHECK(found->only(pool_keys()));
    SP_CHECK(base::read(kWorkerFields, *found, *spec));
    SP_CHECK(base::read(kPoolFields, *found, *spec));
  }
  return {};
}

}  // namespace

Result<EstimateRequest> parse_request(const JsonView& at) {
  static const Strings keys = request_keys();
  if (!at.is_object()) return at.error("expected a JSON object");
  SP_CHECK(at.only(keys));
  EstimateRequest out;
  SP_CHECK(read_subject(at, out.subject));
  Strings frameworks = framework::framework_names();
  frameworks.insert(frameworks.begin(), "all");
  SP_TRY(const std::size_t framework, read_word(at, "framework", frameworks));
  if (framework > 0) out.framework = frameworks[framework];
  SP_TRY(const std::size_t mode, read_word(at, "mode", {kModeNames.begin(), kModeNames.end()}));
  out.mode = static_cast<Mode>(mode);
  SP_CHECK(read_text(at, "decode_system", out.decode_system));
  SP_CHECK(base::read(kRequestFields, at, out));
  SP_CHECK(base::read(kWorkerFields, at, out.worker));
  SP_CHECK(read_pools(at, out));
  if (const auto found = at.find("workload")) {
    SP_TRY(out.load, read_load(*found));
  }
  SP_CHECK(base::read(kEngineFields, at, out.settings));
  if (const auto found = at.find("prompt_cache")) {
    SP_TRY(out.settings.prompt_cache, found->boolean());
  }
  return out;
}

Result<EstimateRequest> parse_request(std::string_view json, const std::string& where) {
  SP_TRY(const base::Json document, base::parse_json(json, where));
  return parse_request(JsonView(document, where));
}

}  // namespace setpoint::search
