// SPDX-License-Identifier: Apache-2.0
// attune register diff: two versions of a register by name.
#include "judge/register_diff.h"

#include <fmt/format.h>

#include <memory>

#include "cli/command.h"

namespace setpoint::cli {
namespace {

using base::Json;

Json json_of(const judge::RegisterDiff& diff) {
  const auto changes = [](const std::vector<judge::RegisterChange>& all) {
    Json rows = Json::array();
    for (const auto& c : all) {
      rows.push_back({{"name", c.name}, {"before", c.before}, {"after", c.after}});
    }
    return rows;
  };
  return {{"added_unjudged", diff.added},
          {"removed", diff.removed},
          {"defaults", changes(diff.defaults)},
          {"judgements", changes(diff.judgements)},
          {"new_side_effects", diff.new_effects}};
}

std::string text_of(const judge::RegisterDiff& diff) {
  std::string text;
  for (const auto& name : diff.added) text += fmt::format("added, unjudged: {}\n", name);
  for (const auto& name : diff.removed) text += fmt::format("removed: {}\n", name);
  for (const auto& c : diff.defaults) {
    text += fmt::format("default of {}: {} -> {}\n", c.name, c.before, c.after);
  }
  for (const auto& c : diff.judgements) {
    text += fmt::format("judgement of {}:\n  - {}\n  + {}\n", c.name, c.before, c.after);
  }
  for (const auto& effect : diff.new_effects) {
    text += fmt::format("side effect, unjudged: {}\n", effect);
  }
  return text;
}

Result<int> compare(const std::string& before, const std::string& after, const Console& console) {
  SP_TRY(const judge::Register first, judge::load_register(before));
  SP_TRY(const judge::Register second, judge::load_register(after));
  const judge::RegisterDiff diff = judge::diff_of(first, second);
  SP_CHECK(console.print(console.json ? base::json_text(json_of(diff)) + "\n" : text_of(diff)));
  if (diff.empty()) console.note("no difference");
  return diff.empty() ? kDone : kNo;
}

}  // namespace

Action register_diff_command(Flags& flags) {
  auto before = std::make_shared<std::string>(), after = std::make_shared<std::string>();
  flags.argument("before", *before, "A file, or a shipped one by name");
  flags.argument("after", *after, "The newer one");
  return [before, after](const Console& console) { return compare(*before, *after, console); };
}

}  // namespace setpoint::cli
