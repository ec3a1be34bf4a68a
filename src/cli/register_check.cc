// SPDX-License-Identifier: Apache-2.0
// attune register check: counts of a register, and what does not fit together in it.
#include <fmt/format.h>

#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/list.h"
#include "judge/defects.h"
#include "judge/register_diff.h"

namespace setpoint::cli {
namespace {

using base::Json;

constexpr std::array kColumns{ListColumn{"class", "class"},
                              ListColumn{"parameters", "parameters", "judged"},
                              ListColumn{"parameters_by_name", "parameters", "by name"},
                              ListColumn{"environment", "variables", "judged"},
                              ListColumn{"environment_by_name", "variables", "by name"}};

Json rows_of(const judge::RegisterSummary& sum) {
  Json rows = Json::array();
  for (int i = 0; i <= static_cast<int>(judge::Class::other_mode); ++i) {
    const auto kind = static_cast<judge::Class>(i);
    const auto count = [&](const auto& all) {
      const auto it = all.find(kind);
      return it == all.end() ? judge::RegisterSummary::Count{} : it->second;
    };
    const auto parameters = count(sum.parameters), environment = count(sum.environment);
    rows.push_back({{"class", judge::word(kind)},
                    {"parameters", parameters.curated},
                    {"parameters_by_name", parameters.by_name},
                    {"environment", environment.curated},
                    {"environment_by_name", environment.by_name}});
  }
  return rows;
}

Json json_of(const judge::Register& of, const judge::RegisterSummary& sum, std::size_t defects) {
  return {{"framework", of.framework},
          {"version", of.version},
          {"version_range", of.version_range},
          {"sha256", of.hash},
          {"classes", rows_of(sum)},
          {"facts_computed", sum.facts_computed},
          {"facts_read", sum.facts_read},
          {"side_effects", sum.effects},
          {"side_effects_opaque", sum.opaque_effects},
          {"defects", defects},
          {"problems", sum.unknown_names}};
}

std::string text_of(const Console& console, const Json& json) {
  std::string text =
      fmt::format("{} {}, for {}\nSHA-256 {}\n\n", json["framework"].get<std::string>(),
                  json["version"].get<std::string>(), json["version_range"].get<std::string>(),
                  json["sha256"].get<std::string>());
  text += list_text(console.screen, json["classes"], kColumns);
  text += fmt::format(
      "\n{} facts computed, {} read from a run; {} side effects, {} of them opaque; "
      "{} defects\n",
      json["facts_computed"].get<int>(), json["facts_read"].get<int>(),
      json["side_effects"].get<int>(), json["side_effects_opaque"].get<int>(),
      json["defects"].get<int>());
  for (const Json& problem : json["problems"])
    text += "problem: " + problem.get<std::string>() + "\n";
  return text;
}

// What cannot be read at all is an error; what contradicts itself is the answer "no".
Result<int> check(const std::string& name, const Console& console) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) {
    SP_TRY(const std::string text, base::read_file(name));
    SP_CHECK(base::parse_json(text, name));
  }
  const auto loaded = judge::load_register(name);
  const auto names = judge::register_names();
  const bool is_file = name.find('/') != std::string::npos || name.ends_with(".json");
  if (!loaded && !is_file) return loaded.error();
  if (!loaded) {
    const std::string problem = loaded.error().text;
    SP_CHECK(console.print(console.json
                               ? base::json_text({{"problems", Json::array({problem})}}) + "\n"
                               : "problem: " + problem + "\n"));
    return kNo;
  }
  const auto sum = judge::summary_of(*loaded);
  SP_TRY(const judge::Defects defects, judge::shipped_defects(*loaded));
  const Json json = json_of(*loaded, sum, defects.all.size());
  SP_CHECK(console.print(console.json ? base::json_text(json) + "\n" : text_of(console, json)));
  return sum.unknown_names.empty() ? kDone : kNo;
}

}  // namespace

Action register_check_command(Flags& flags) {
  auto name = std::make_shared<std::string>();
  flags.argument("register", *name, "A file, or a shipped one by name, e.g. megatron-core");
  return [name](const Console& console) { return check(*name, console); };
}

}  // namespace setpoint::cli
