// SPDX-License-Identifier: Apache-2.0
#include "generate/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/json.h"
#include "search/inputs.h"

namespace setpoint::generate {
namespace {

using base::Json;
using base::JsonView;
using Strings = std::vector<std::string>;

// Digits survive a trip through JSON; a difference beyond rounding is somebody's edit, another
// database or another version of this program.
constexpr double kSameFigure = 1e-9;

const Strings kSearchKeys{"inputs", "best",     "no_answer",  "agg",          "disagg", "static",
                          "why",    "rejected", "incomplete", "missing_data", "stats"};
const Strings kInputKeys{"model",
                         "architecture",
                         "family",
                         "parameters",
                         "moe",
                         "system",
                         "spec",
                         "decode_system",
                         "frameworks",
                         "isl",
                         "osl",
                         "prefix",
                         "nextn",
                         "nextn_accepted",
                         "precision",
                         "alpha",
                         "data",
                         "quant_overrides",
                         "db",
                         "warnings",
                         "framework_version",
                         "target",
                         "sla",
                         "modes",
                         "assumed",
                         "settings"};

Result<std::string> text_at(const JsonView& at, std::string_view key) {
  SP_TRY(const JsonView value, at.at(key));
  return value.string();
}
// null: "".
Result<std::string> optional_text(const JsonView& at, std::string_view key) {
  const auto value = at.find(key);
  return value ? value->string() : Result<std::string>(std::string());
}
Result<std::int64_t> count_at(const JsonView& at, std::string_view key, double most) {
  SP_TRY(const JsonView value, at.at(key));
  return value.integer(1, static_cast<std::int64_t>(most));
}
template <std::size_t N>
Result<std::size_t> word_at(const JsonView& at, std::string_view key,
                            const std::array<std::string_view, N>& words) {
  SP_TRY(const JsonView value, at.at(key));
  SP_TRY(const std::string word, value.string());
  const auto found = std::find(words.begin(), words.end(), word);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  return value.error(base::unknown_name(key, word, Strings(words.begin(), words.end())));
}

Result<search::Subject> read_subject(const JsonView& in) {
  SP_CHECK(in.only(kInputKeys));
  search::Subject s;
  SP_TRY(s.model, text_at(in, "model"));
  SP_TRY(s.system, text_at(in, "system"));
  SP_TRY(s.system_spec, optional_text(in, "spec"));
  SP_TRY(s.framework_version, optional_text(in, "framework_version"));
  SP_TRY(s.precision, optional_text(in, "precision"));
  SP_TRY(const std::string database, optional_text(in, "db"));
  s.database = database;
  for (const auto& field : search::kWorkloadFields) SP_CHECK(in.at(field.name));
  SP_CHECK(base::read(search::kWorkloadFields, in, s.workload));
  SP_CHECK(base::read(search::kSubjectFields, in, s));
  SP_TRY(const std::size_t data, word_at(in, "data", perfdb::kDataModeNames));
  s.data = static_cast<perfdb::DataMode>(data);
  SP_TRY(const JsonView overrides, in.at("quant_overrides"));
  if (!overrides.is_object()) return overrides.error("expected an object");
  for (const std::string& key : overrides.keys()) {
    SP_TRY(const std::string mode, text_at(overrides, key));
    s.quant.push_back({key, mode});
  }
  const auto sound = search::check(s);
  if (!sound) return sound.error().at(in.path());
  return s;
}

Result<Worker> read_worker(const JsonView& at, Role role) {
  Worker w;
  SP_TRY(const std::size_t found, word_at(at, "role", kRoleNames));
  w.role = static_cast<Role>(found);
  if (w.role != role) {
    return at.error(
        fmt::format("role: expected {} here", kRoleNames[static_cast<std::size_t>(role)]));
  }
  SP_TRY(w.count, count_at(at, "count", search::kMostWidth));
  SP_TRY(w.system, text_at(at, "system"));
  SP_TRY(w.batch, count_at(at, "batch", search::kMostCount));
  SP_TRY(w.max_num_tokens, count_at(at, "max_num_tokens", 1e12));
  for (const auto& [key, width] : {std::pair{"tp", &w.shard.tp},
                                   {"pp", &w.shard.pp},
                                   {"dp", &w.shard.dp},
                                   {"moe_tp", &w.shard.moe_tp},
                                   {"moe_ep", &w.shard.moe_ep},
                                   {"cp", &w.shard.cp}}) {
    SP_TRY(const std::int64_t value, count_at(at, key, search::kMostWidth));
    *width = static_cast<int>(value);
  }
  return w;
}

// What a row was asked with; its figures are for comparing only.
Result<Estimate> read_config(const JsonView& at) {
  Estimate e;
  SP_TRY(const std::size_t mode, word_at(at, "mode", kModeNames));
  e.mode = static_cast<Mode>(mode);
  SP_TRY(e.framework, text_at(at, "framework"));
  const Strings& known = framework::framework_names();
  if (std::find(known.begin(), known.end(), e.framework) == known.end()) {
    return at.error(base::unknown_name("framework", e.framework, known));
  }
  SP_TRY(e.gpus_asked, count_at(at, "gpus_asked", search::kMostGpus));
  SP_TRY(const JsonView list, at.at("workers"));
  SP_TRY(const std::vector<JsonView> workers, list.items());
  const std::vector<Role> roles =
      e.mode == Mode::disagg ? std::vector{Role::prefill, Role::decode} : std::vector{Role::mixed};
  if (workers.size() != roles.size()) {
    return list.error(
        fmt::format("expected {} kinds of worker, found {}", roles.size(), workers.size()));
  }
  for (std::size_t i = 0; i < roles.size(); ++i) {
    SP_TRY(e.workers.emplace_back(), read_worker(workers[i], roles[i]));
  }
  return e;
}

// Of a search's document the chosen row.
Result<JsonView> chosen_row(const JsonView& document, const Choice& choice) {
  SP_CHECK(document.only(kSearchKeys));
  std::optional<Mode> mode = choice.mode;
  if (const auto best = document.find("best"); best && !mode) {
    SP_TRY(const std::size_t found, word_at(*best, "mode", kModeNames));
    mode = static_cast<Mode>(found);
  }
  if (!mode) {
    return Error{ErrorCode::no, document.path() + ": best: the search found no configuration"};
  }
  const auto name = kModeNames[static_cast<std::size_t>(*mode)];
  SP_TRY(const JsonView part, document.at(name));
  SP_TRY(const JsonView list, part.at("configs"));
  SP_TRY(const std::vector<JsonView> rows, list.items());
  if (choice.rank < 1 || choice.rank > rows.size()) {
    return list.error(
        fmt::format("rank {}: there are {} configurations", choice.rank, rows.size()));
  }
  return rows[choice.rank - 1];
}

// An estimate's document is the row itself.
Result<JsonView> only_row(const JsonView& document, const Choice& choice) {
  SP_TRY(const std::size_t mode, word_at(document, "mode", kModeNames));
  if (choice.rank != 1) return document.error("rank: an estimate is one configuration, rank 1");
  if (choice.mode && *choice.mode != static_cast<Mode>(mode)) {
    return document.error(fmt::format("mode: the estimate is {}", kModeNames[mode]));
  }
  return document;
}

// Leaves of two documents that differ, as "tpot_ms 20 (file) 25 (now)".
void compare(const Json& stated, const Json& now, const std::string& path, Strings& out) {
  if (stated.is_number() && now.is_number()) {
    const double a = stated.get<double>(), b = now.get<double>();
    if (std::fabs(a - b) <= kSameFigure * std::max(std::fabs(a), std::fabs(b))) return;
  } else if (now.is_structured() && stated.type() == now.type()) {
    for (const auto& [key, value] : now.items()) {
      const bool keyed = now.is_object();
      const std::size_t index = keyed ? 0 : std::stoul(key);
      const bool there = keyed ? stated.contains(key) : index < stated.size();
      const std::string name =
          keyed ? (path.empty() ? key : path + "." + key) : fmt::format("{}[{}]", path, key);
      compare(there ? (keyed ? stated[key] : stated[index]) : Json(nullptr), value, name, out);
    }
    return;
  } else if (stated == now) {
    return;
  }
  const auto shown = [](const Json& j) { return base::shown(base::json_text(j)); };
  out.push_back(fmt::format("{} {} in the file, {} now", path, shown(stated), shown(now)));
}

// Keys of a row that no row has.
Result<void> known_keys(const JsonView& at, const Json& own) {
  Strings keys = JsonView(own, "").keys();
  keys.insert(keys.end(), {"inputs", "breakdown"});
  SP_CHECK(at.only(keys));
  SP_TRY(const JsonView list, at.at("workers"));
  SP_TRY(const std::vector<JsonView> workers, list.items());
  for (const JsonView& worker : workers) {
    SP_CHECK(worker.only(JsonView(own["workers"][0], "").keys()));
  }
  return {};
}

}  // namespace

Result<Saved> read_saved(const JsonView& document, const Choice& choice) {
  if (!document.is_object()) return document.error("expected the JSON of a search or an estimate");
  SP_TRY(const JsonView inputs, document.at("inputs"));
  const bool estimate = document.find("workers").has_value();
  SP_TRY(const JsonView row, estimate ? only_row(document, choice) : chosen_row(document, choice));
  SP_TRY(const search::Subject subject, read_subject(inputs));
  SP_TRY(const Estimate config, read_config(row));
  SP_CHECK(known_keys(row, report::config_json(config)));
  Saved out{search::request_of(subject, config), row.json()};
  out.config.erase("inputs");
  out.config.erase("breakdown");
  if (const auto settings = inputs.find("settings")) {
    search::EngineSettings& to = out.request.settings;
    const auto step_tokens = to.max_num_tokens;
    SP_CHECK(base::read(search::kEngineFields, *settings, to));
    if (step_tokens) to.max_num_tokens = step_tokens;
  }
  // More requests than places at once: a whole number that the places alone would not give.
  if (const auto flight = row.find("concurrency")) {
    SP_TRY(const double value, flight->number(0, search::kMostCount));
    if (value >= 1 && value == std::floor(value)) out.request.concurrency = std::llround(value);
  }
  return out;
}

Result<Deployment> price(search::Estimator& estimator, const search::EstimateRequest& request) {
  SP_TRY(search::EstimateAnswer answer, estimator.answer(request));
  if (answer.refusal) {
    return Error{ErrorCode::no,
                 fmt::format("{}: {}", kRoleNames[static_cast<std::size_t>(answer.refusal->role)],
                             answer.refusal->text)};
  }
  return Deployment{request, std::move(answer.inputs), std::move(*answer.estimate), {}, {}};
}

Result<Deployment> price(search::Estimator& estimator, const Saved& saved) {
  SP_TRY(Deployment out, price(estimator, saved.request));
  Strings different;
  compare(saved.config, report::config_json(out.estimate), "", different);
  if (different.empty()) return out;
  out.stated = saved.config;
  constexpr std::size_t kShown = 5;
  const std::size_t more = different.size() - std::min(different.size(), kShown);
  different.resize(std::min(different.size(), kShown));
  out.notes.push_back(
      "the file's figures differ from what is predicted now: " + base::join(different, "; ") +
      (more > 0 ? fmt::format("; and {} more (plan.json has both)", more) : ""));
  return out;
}

}  // namespace setpoint::generate
