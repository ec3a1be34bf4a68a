// SPDX-License-Identifier: Apache-2.0
#include "recipe/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/canonical.h"
#include "base/fields.h"
#include "base/file.h"
#include "recipe/canonical.h"
#include "recipe/forms.h"

namespace setpoint::recipe {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of a log or a configuration
constexpr std::size_t kMostRanks = 65536;

struct LogForm {
  std::string_view mark;
  Result<FinalValues> (*read)(const std::vector<LogLine>&, const std::string&);
};
constexpr std::array kLogForms{
    LogForm{"--- arguments ---", read_megatron_log},
    LogForm{"Running with configs: {", read_torchtitan_log},
    LogForm{"Running with args: {", read_torchtitan_log},
    LogForm{"DeepSpeedEngine configuration:", read_deepspeed_log},
};

template <class Keys>
bool has_any(const base::Json& json, const Keys& keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return json.contains(key); });
}

Result<FinalValues> from_json(const base::Json& json, const std::string& what) {
  constexpr std::array kGeneric{"framework", "parameters"};
  constexpr std::array kDeepSpeed{"train_batch_size", "train_micro_batch_size_per_gpu",
                                  "zero_optimization", "gradient_accumulation_steps"};
  constexpr std::array kTorchTitan{"parallelism", "training"};
  if (!json.is_object() || json.empty()) {
    return Error::bad_input(what + ": expected an object with members");
  }
  const bool texts =
      std::all_of(json.begin(), json.end(), [](const auto& value) { return value.is_string(); });
  if (texts && !has_any(json, kGeneric)) return read_environment_json(json, what);
  if (has_any(json, kGeneric) || (json.contains("environment") && json["environment"].is_object()))
    return read_generic_json(json, what);
  if (has_any(json, kDeepSpeed)) return read_deepspeed_json(json, what);
  if (has_any(json, kTorchTitan)) return read_torchtitan_json(json, what);
  return Error::bad_input(what +
                          ": JSON of no known form: expected {\"framework\", \"parameters\", ...}, "
                          "an environment, or TorchTitan's or DeepSpeed's configuration");
}

Result<FinalValues> any_form(std::string_view text, const std::string& what) {
  if (text.find('\0') != std::string_view::npos) return read_environ(text, what);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Error::bad_input(what + ": is empty");
  if (text[first] == '{') {
    SP_TRY(const base::Json json, base::parse_json(text, what));
    return from_json(json, what);
  }
  for (const LogForm& form : kLogForms) {
    if (text.find(form.mark) != std::string_view::npos) return form.read(log_lines(text), what);
  }
  return read_bridge_yaml(text, what);
}

// JSON strings are UTF-8; what logs and environments hold is checked here, at the edge.
Result<void> check_text(const FinalValues& values, const std::string& what) {
  const auto check = [&](const std::string& name, const base::Json& value) -> Result<void> {
    if (auto text = base::canonical_json(base::Json{{name, value}}); !text.ok()) {
      return text.error().at(what + ": " + base::shown(name));
    }
    return {};
  };
  for (const auto& [name, value] : values.parameters) SP_CHECK(check(name, value));
  for (const auto& [name, value] : values.environment) SP_CHECK(check(name, value));
  return {};
}

// Files of one rank speak about different things: nothing may be stated by two.
Result<void> merge(FinalValues&& more, FinalValues& into, const std::string& what) {
  if (into.framework.empty()) into.framework = more.framework;
  if (into.version.empty()) into.version = more.version;
  if (!more.framework.empty() && more.framework != into.framework) {
    return Error::bad_input(
        fmt::format("{}: framework \"{}\", another file of this rank says \"{}\"", what,
                    more.framework, into.framework));
  }
  into.parameters.merge(more.parameters);
  into.environment.merge(more.environment);
  into.facts.merge(more.facts);
  for (const auto* rest : {&more.parameters, &more.facts}) {
    if (rest->empty()) continue;
    return Error::bad_input(fmt::format("{}: {} is stated by another file of this rank too", what,
                                        base::shown(rest->begin()->first)));
  }
  if (!more.environment.empty()) {
    return Error::bad_input(fmt::format("{}: {} is stated by another file of this rank too", what,
                                        base::shown(more.environment.begin()->first)));
  }
  return {};
}

// "rank12.json" 12, "environ.3" 3, "train.log" 0.
Result<int> rank_of(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::size_t marked = name.find("rank");
  const std::size_t first =
      name.find_first_of("0123456789", marked == std::string::npos ? 0 : marked);
  if (first == std::string::npos) return 0;
  std::int64_t rank = 0;
  for (std::size_t at = first; at < name.size() && name[at] >= '0' && name[at] <= '9'; ++at) {
    rank = rank * 10 + (name[at] - '0');
    if (rank >= static_cast<std::int64_t>(kMostRanks)) {
      return Error::bad_input(fmt::format("{}: the number in its name is no rank", path.string()));
    }
  }
  return static_cast<int>(rank);
}

Result<std::map<int, FinalValues>> read_ranks(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ec)) {
    if (entry.is_regular_file(ec)) files.push_back(entry.path());
  }
  if (ec) return Error::bad_input(fmt::format("{}: {}", folder.string(), ec.message()));
  std::sort(files.begin(), files.end());
  std::map<int, FinalValues> ranks;
  for (const auto& file : files) {
    SP_TRY(const int rank, rank_of(file));
    SP_TRY(const std::string text, base::read_file(file, kMostBytes));
    SP_TRY(FinalValues values, parse_final_values(text, file.string()));
    SP_CHECK(merge(std::move(values), ranks[rank], file.string()));
  }
  return ranks;
}

void compare_ranks(const std::map<int, FinalValues>& ranks, Run& run) {
  for (const auto& [rank, values] : ranks) {
    // A rank of which only the environment was captured is compared in that alone.
    FinalValues base = ranks.begin()->second;
    if (values.parameters.empty()) base.parameters.clear();
    if (values.environment.empty()) base.environment.clear();
    for (Difference& difference : diff(base, values)) {
      run.rank_differences.push_back({rank, std::move(difference)});
    }
  }
}

}  // namespace

Result<FinalValues> parse_final_values(std::string_view text, const std::string& what) {
  SP_TRY(FinalValues values, any_form(text, what));
  SP_CHECK(check_text(values, what));
  return values;
}

Result<Run> read_run(const std::filesystem::path& path) {
  std::error_code ec;
  Run run;
  if (std::filesystem::is_directory(path, ec)) {
    SP_TRY(const auto ranks, read_ranks(path));
    if (ranks.empty() || ranks.begin()->first != 0) {
      return Error::bad_input(fmt::format("{}: no file of rank 0", path.string()));
    }
    run.values = ranks.begin()->second;
    run.ranks = static_cast<int>(ranks.size());
    compare_ranks(ranks, run);
  } else {
    SP_TRY(const std::string text, base::read_file(path, kMostBytes));
    SP_TRY(run.values, parse_final_values(text, path.string()));
  }
  add_content_facts(run.values, path.parent_path());
  if (run.values.framework.empty()) {
    return Error::bad_input(path.string() + ": an environment alone, no parameters");
  }
  return run;
}

}  // namespace setpoint::recipe
