// SPDX-License-Identifier: Apache-2.0
// attune register show: what a register says, as a list or about one parameter.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "judge/register_diff.h"
#include "report/table.h"
#include "report/text.h"

namespace setpoint::cli {
namespace {

using base::Json;

struct Options {
  std::string name, kind;
  Strings parameters;
  bool reviewed = false;
};

Json json_of(const judge::Entry& entry, const std::string& name) {
  Json json{{"name", name},
            {"class", judge::word(entry.kind)},
            {"facet", entry.facet ? Json(judge::word(*entry.facet)) : Json()},
            {"confidence", judge::word(entry.confidence)},
            {"judged", entry.curated ? "curated" : "by-name"},
            {"pass_if", entry.pass_if ? Json(entry.pass_if->text()) : Json()},
            {"doc", entry.doc},
            {"reason", entry.reason},
            {"where", entry.where},
            {"type", entry.type}};
  if (entry.default_value) json["default"] = *entry.default_value;
  if (!entry.aliases.empty()) json["aliases"] = entry.aliases;
  if (!entry.flag.empty()) json["flag"] = entry.flag;
  if (!entry.review.empty()) json["review"] = entry.review;
  return json;
}

// All, or those that were asked for: a parameter, or a variable as env.NAME.
Result<Json> chosen(const judge::Register& of, const Options& options) {
  Json rows = Json::array();
  const auto add = [&](const judge::Entry& entry, const std::string& name) {
    const bool wanted = options.kind.empty() || options.kind == judge::word(entry.kind);
    if (wanted && (!options.reviewed || !entry.review.empty()))
      rows.push_back(json_of(entry, name));
  };
  if (options.parameters.empty()) {
    for (const judge::Entry& entry : of.parameters) add(entry, entry.name);
    for (const judge::Entry& entry : of.environment) add(entry, "env." + entry.name);
  }
  for (const std::string& name : options.parameters) {
    const bool variable = name.starts_with("env.");
    const auto* entry = variable ? of.variable(name.substr(4)) : of.parameter(name);
    const auto full = of.resolve({judge::RuleName::Space::parameter, false, name});
    if (!entry && full) entry = of.parameter(full->name);
    if (!entry) {
      Strings known;
      for (const auto& [other, at] : of.parameter_index) known.push_back(other);
      for (const auto& [other, at] : of.variable_index) known.push_back("env." + other);
      return Error::bad_input(base::unknown_name("parameter", name, known));
    }
    add(*entry, variable ? name : entry->name);
  }
  return rows;
}

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string list(const report::Screen& screen, const Json& rows) {
  constexpr std::size_t kName = 40, kClass = 24, kGaps = 6;
  const auto width = static_cast<std::size_t>(std::max(screen.columns, 90));
  std::vector<report::Column> columns(3);
  columns[0].head = "parameter";
  columns[1].head = "class";
  columns[2].head = "reason or rule";
  for (report::Column& column : columns) column.left = true;
  for (const Json& row : rows) {
    const bool ruled = row["pass_if"].is_string() && row["judged"] == "curated";
    columns[0].cells.push_back(shortened(row["name"].get<std::string>(), kName));
    columns[1].cells.push_back(row["judged"] == "curated"
                                   ? row["class"].get<std::string>()
                                   : "(" + row["class"].get<std::string>() + ")");
    columns[1].cells.back() = shortened(columns[1].cells.back(), kClass);
    columns[2].cells.push_back(shortened(row[ruled ? "pass_if" : "reason"].get<std::string>(),
                                         width - kName - kClass - kGaps));
  }
  return report::table(screen, std::move(columns));
}

std::string details(const report::Screen& screen, const Json& row) {
  std::string text = row["name"].get<std::string>() + "\n";
  for (const auto& [key, value] : row.items()) {
    if (key == "name" || value.is_null()) continue;
    const std::string shown = value.is_string() ? value.get<std::string>() : base::json_text(value);
    if (!shown.empty()) text += report::field(screen, key, shown);
  }
  return text;
}

Result<int> show(const Options& options, const Console& console) {
  SP_TRY(const judge::Register of, judge::load_register(options.name));
  SP_TRY(const Json rows, chosen(of, options));
  std::string text;
  if (console.json) {
    text = base::json_text(rows) + "\n";
  } else if (options.parameters.empty()) {
    text = rows.empty() ? "" : list(console.screen, rows);
  } else {
    for (const Json& row : rows) text += (text.empty() ? "" : "\n") + details(console.screen, row);
  }
  SP_CHECK(console.print(text));
  if (rows.empty()) console.note("no entry matches");
  if (!console.json && options.parameters.empty()) {
    console.note(
        fmt::format("{} entries; classes in brackets were judged by name alone", rows.size()));
  }
  return rows.empty() ? kNo : kDone;
}

}  // namespace

Action register_show_command(Flags& flags) {
  auto options = std::make_shared<Options>();
  flags.argument("register", options->name, "A file, or a shipped one by name");
  flags.texts("parameter", options->parameters, "VALUE",
              "Only this one, in full; env.NAME: a variable");
  Strings classes;
  for (int i = 0; i <= static_cast<int>(judge::Class::other_mode); ++i) {
    classes.emplace_back(judge::word(static_cast<judge::Class>(i)));
  }
  flags.choice("--class", options->kind, classes, "Only this class");
  flags.toggle("--reviewed", options->reviewed, "Only entries with a review note");
  return [options](const Console& console) { return show(*options, console); };
}

}  // namespace setpoint::cli
