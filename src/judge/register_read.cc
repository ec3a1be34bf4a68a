// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <set>

#include "base/embedded.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "judge/register.h"
#include "judge/register_fields.h"
#include "judge/rule_version.h"

namespace setpoint::judge {
namespace {

using base::JsonView;
using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 6> kClasses{
    "changes-what-is-trained", "layout-only", "conditional",
    "changes-the-measurement", "neutral",     "other-mode"};
constexpr std::array<std::string_view, 8> kFacets{"data",    "batch",     "optimizer", "loss",
                                                  "routing", "precision", "model",     "init"};
constexpr std::array<std::string_view, 3> kConfidences{"high", "medium", "low"};
constexpr std::array<std::string_view, 2> kJudged{"curated", "by-name"};
constexpr std::array<std::string_view, 1> kSchema{"setpoint-register/1"};

constexpr std::array<std::string_view, 9> kTop{"schema",          "framework",     "version",
                                               "source_revision", "version_range", "facts",
                                               "parameters",      "environment",   "side_effects"};
constexpr std::array<std::string_view, 1> kTopOptional{"notes"};
constexpr std::array<std::string_view, 8> kParameter{"name",       "type",   "where",  "class",
                                                     "confidence", "judged", "reason", "doc"};
constexpr std::array<std::string_view, 8> kParameterOptional{
    "line", "default", "facet", "pass_if", "flag", "aliases", "choices", "review"};
constexpr std::array<std::string_view, 7> kVariable{"name",   "sources", "class", "confidence",
                                                    "judged", "reason",  "doc"};
constexpr std::array<std::string_view, 5> kVariableOptional{"default", "facet", "pass_if",
                                                            "framework_sets_it", "review"};
constexpr std::array<std::string_view, 2> kFact{"name", "how"};
constexpr std::array<std::string_view, 1> kFactOptional{"value"};
constexpr std::array<std::string_view, 4> kEffect{"param", "set_to", "when", "where"};
constexpr std::array<std::string_view, 2> kEffectOptional{"line", "review"};

// Class, facet and rule must fit each other.
Result<void> check_judgement(const Entry& entry, const JsonView& at) {
  if (entry.facet.has_value() != (entry.kind == Class::trained)) {
    return at.error("facet belongs to changes-what-is-trained, and only there");
  }
  const bool ruled = entry.kind == Class::conditional || entry.kind == Class::layout;
  if (entry.pass_if && !ruled) return at.error("pass_if belongs to conditional and layout-only");
  if (entry.kind == Class::conditional && entry.may_pass() && !entry.pass_if) {
    return at.error("conditional, but without pass_if");
  }
  return {};
}

Result<void> read_judgement(const JsonView& at, Entry& entry) {
  SP_TRY(const std::size_t kind, word_at(at, "class", kClasses));
  entry.kind = static_cast<Class>(kind);
  SP_TRY(const std::size_t confidence, word_at(at, "confidence", kConfidences));
  entry.confidence = static_cast<Confidence>(confidence);
  SP_TRY(const std::size_t judged, word_at(at, "judged", kJudged));
  entry.curated = judged == 0;
  if (at.find("facet")) {
    SP_TRY(const std::size_t facet, word_at(at, "facet", kFacets));
    entry.facet = static_cast<Facet>(facet);
  }
  if (at.find("pass_if")) {
    SP_TRY(entry.pass_if, rule_at(at, "pass_if"));
  }
  SP_TRY(entry.reason, text_at(at, "reason"));
  SP_TRY(entry.doc, text_at(at, "doc"));
  SP_TRY(entry.review, text_at(at, "review"));
  const auto& json = at.json();
  if (json.contains("default")) entry.default_value = json["default"];
  return check_judgement(entry, at);
}

Result<Entry> read_parameter(const JsonView& at) {
  SP_CHECK(check_keys(at, kParameter, kParameterOptional));
  Entry entry;
  SP_TRY(entry.name, text_at(at, "name"));
  SP_TRY(entry.type, text_at(at, "type"));
  SP_TRY(entry.where, place_at(at));
  SP_TRY(entry.flag, text_at(at, "flag"));
  SP_TRY(entry.aliases, texts_at(at, "aliases"));
  SP_CHECK(read_judgement(at, entry));
  return entry;
}

Result<Entry> read_variable(const JsonView& at) {
  SP_CHECK(check_keys(at, kVariable, kVariableOptional));
  Entry entry;
  entry.type = "str";
  SP_TRY(entry.name, text_at(at, "name"));
  SP_TRY(const std::vector<std::string> sources, texts_at(at, "sources"));
  entry.where = base::join(sources);
  SP_CHECK(read_judgement(at, entry));
  return entry;
}

Result<Fact> read_fact(const JsonView& at) {
  SP_CHECK(check_keys(at, kFact, kFactOptional));
  Fact fact;
  SP_TRY(fact.name, text_at(at, "name"));
  SP_TRY(fact.how, text_at(at, "how"));
  if (at.find("value")) {
    SP_TRY(fact.value, rule_at(at, "value"));
  }
  return fact;
}

Result<SideEffect> read_effect(const JsonView& at) {
  SP_CHECK(check_keys(at, kEffect, kEffectOptional));
  SideEffect effect;
  SP_TRY(std::string target, text_at(at, "param"));
  if (target.starts_with("env.")) {
    effect.target = {RuleName::Space::environment, false, target.substr(4)};
  } else {
    effect.target = {RuleName::Space::parameter, false, target};
  }
  SP_TRY(effect.set_to, rule_at(at, "set_to"));
  SP_TRY(const std::vector<std::string> when, texts_at(at, "when"));
  for (const std::string& text : when) {
    auto rule = Rule::parse(text);
    if (!rule) return at.error(fmt::format("when \"{}\": {}", text, rule.error().text));
    effect.when.push_back(std::move(rule).value());
  }
  SP_TRY(effect.where, place_at(at));
  return effect;
}

template <class T>
Result<std::vector<T>> read_all(const JsonView& file, std::string_view key,
                                Result<T> (*read)(const JsonView&), std::string_view name) {
  SP_TRY(const JsonView list, file.at(key));
  SP_TRY(const std::vector<JsonView> items, list.items());
  std::vector<T> all;
  all.reserve(items.size());
  for (const JsonView& item : items) {
    SP_TRY(T one, read(named_entry(item, name)));
    all.push_back(std::move(one));
  }
  return all;
}

bool same_judgement(const Entry& a, const Entry& b) {
  const auto rule = [](const Entry& e) { return e.pass_if ? e.pass_if->text() : ""; };
  return a.kind == b.kind && a.facet == b.facet && a.curated == b.curated &&
         a.confidence == b.confidence && rule(a) == rule(b);
}

using Index = std::map<std::string, std::size_t, std::less<>>;

Result<Index> index_of(const std::vector<Entry>& entries, const std::string& what) {
  Index index;
  std::set<std::pair<std::string, std::string>> places;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (!places.emplace(entry.name, entry.where).second) {
      return Error::bad_input(
          fmt::format("{}: {} stands twice, from {}", what, entry.name, entry.where));
    }
    const Entry& first = entries[index.emplace(entry.name, i).first->second];
    if (!same_judgement(first, entry)) {
      return Error::bad_input(fmt::format("{}: {} is judged in two ways: {} ({}) and {} ({})", what,
                                          entry.name, word(first.kind), first.where,
                                          word(entry.kind), entry.where));
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (const std::string& alias : entries[i].aliases) {
      const std::size_t owner = index.emplace(alias, i).first->second;
      if (entries[owner].name == entries[i].name) continue;
      return Error::bad_input(fmt::format("{}: {} is an alias of {} and names {}", what, alias,
                                          entries[i].name, entries[owner].name));
    }
  }
  return index;
}

void index_last_parts(Register& file) {
  for (const auto& [name, entry] : file.parameter_index) {
    const auto dot = name.rfind('.');
    if (dot == std::string::npos) continue;
    auto& full = file.by_last_part[name.substr(dot + 1)];
    const std::string& canonical = file.parameters[entry].name;
    if (std::find(full.begin(), full.end(), canonical) == full.end()) full.push_back(canonical);
  }
}

Result<void> resolve_rules(Register& file, const std::string& what) {
  const auto resolve = [&](Rule& rule, const std::string& of) -> Result<void> {
    const auto done = resolve_rule(file, rule);
    if (done) return {};
    return done.error().at(fmt::format("{}: {}: rule \"{}\"", what, of, rule.text()));
  };
  for (auto* entries : {&file.parameters, &file.environment}) {
    for (Entry& entry : *entries) {
      if (entry.pass_if) SP_CHECK(resolve(*entry.pass_if, entry.name));
    }
  }
  for (SideEffect& effect : file.side_effects) {
    SP_CHECK(resolve(effect.set_to, effect.where));
    for (Rule& rule : effect.when) SP_CHECK(resolve(rule, effect.where));
    SP_TRY(effect.target, file.resolve(effect.target));
  }
  for (Fact& fact : file.facts) {
    if (!fact.value) continue;
    SP_CHECK(resolve(*fact.value, "fact " + fact.name));
    file.fact_rules.emplace(fact.name, *fact.value);
  }
  return {};
}

Result<void> read_head(const JsonView& at, Register& file) {
  SP_CHECK(check_keys(at, kTop, kTopOptional));
  SP_CHECK(word_at(at, "schema", kSchema));
  SP_TRY(file.framework, text_at(at, "framework"));
  SP_TRY(file.version, text_at(at, "version"));
  SP_TRY(file.source_revision, text_at(at, "source_revision"));
  SP_TRY(file.version_range, text_at(at, "version_range"));
  SP_TRY(file.notes, text_at(at, "notes"));
  if (in_version_range("0", file.version_range)) return {};
  return at.error("version_range: expected bounds like >=0.16,<0.21, found " + file.version_range);
}

}  // namespace

std::string_view word(Class value) { return kClasses.at(static_cast<std::size_t>(value)); }
std::string_view word(Facet value) { return kFacets.at(static_cast<std::size_t>(value)); }
std::string_view word(Confidence value) { return kConfidences.at(static_cast<std::size_t>(value)); }

Result<void> resolve_rule(const Register& file, Rule& rule) {
  SP_CHECK(rule.resolve([&](const RuleName& name) { return file.resolve(name); }));
  for (const RuleName& name : rule.names()) {
    if (name.space != RuleName::Space::fact) continue;
    const bool listed = std::any_of(file.facts.begin(), file.facts.end(),
                                    [&](const Fact& fact) { return fact.name == name.name; });
    if (!listed) return Error::bad_input(name.text() + " is not in the table of facts");
  }
  return {};
}

Result<Register> parse_register(std::string_view text, const std::string& what) {
  SP_TRY(const base::Json json, base::parse_json(text, what));
  const JsonView at(json, what);
  Register file;
  file.hash = base::sha256_hex(text);
  SP_CHECK(read_head(at, file));
  SP_TRY(file.facts, read_all(at, "facts", &read_fact, "name"));
  SP_TRY(file.parameters, read_all(at, "parameters", &read_parameter, "name"));
  SP_TRY(file.environment, read_all(at, "environment", &read_variable, "name"));
  SP_TRY(file.side_effects, read_all(at, "side_effects", &read_effect, "param"));
  SP_TRY(file.parameter_index, index_of(file.parameters, what));
  SP_TRY(file.variable_index, index_of(file.environment, what));
  index_last_parts(file);
  SP_CHECK(resolve_rules(file, what));
  return file;
}

std::vector<std::string> register_names() {
  std::vector<std::string> names;
  for (const std::string_view path : base::embedded_files("registers/")) {
    std::string name(path.substr(path.rfind('/') + 1));
    name = name.substr(0, name.rfind('.'));
    if (name != "defects" && path == "registers/" + name + ".json") names.push_back(name);
  }
  return names;
}

Result<Register> load_register(const std::string& file_or_name) {
  const std::string& from = file_or_name;
  if (from.find('/') != std::string::npos || from.ends_with(".json")) {
    SP_TRY(const std::string text, base::read_file(from));
    return parse_register(text, from);
  }
  const std::vector<std::string> names = register_names();
  if (std::find(names.begin(), names.end(), from) == names.end()) {
    return Error::bad_input(base::unknown_name("register", from, names));
  }
  const std::string path = "registers/" + from + ".json";
  return parse_register(*base::embedded_file(path), path);
}

}  // namespace setpoint::judge
