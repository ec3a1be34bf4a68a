// SPDX-License-Identifier: Apache-2.0
#include "judge/defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/embedded.h"
#include "base/sha256.h"
#include "judge/register_fields.h"
#include "judge/rule_version.h"

namespace setpoint::judge {
namespace {

using base::JsonView;

constexpr std::array<std::string_view, 1> kSchema{"setpoint-defects/1"};
constexpr std::array<std::string_view, 3> kTop{"schema", "signals", "defects"};
constexpr std::array<std::string_view, 1> kTopOptional{"notes"};
constexpr std::array<std::string_view, 8> kDefect{"id",   "package",  "conditions", "effect",
                                                  "kind", "shows_in", "reference",  "confidence"};
constexpr std::array<std::string_view, 6> kDefectOptional{"introduced",   "fixed_in", "fixed_on",
                                                          "fixed_commit", "measured", "review"};
constexpr std::array<std::string_view, 3> kConfidences{"high", "medium", "low"};

bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  return text.size() == kForm.size() &&
         std::equal(text.begin(), text.end(), kForm.begin(), [](char c, char form) {
           return form == 'd' ? c >= '0' && c <= '9' : c == form;
         });
}

Result<void> check_window(const Defect& defect, const JsonView& at) {
  for (const std::string& version : {defect.introduced, defect.fixed_in}) {
    if (!version.empty() && !parse_python_version(version)) {
      return at.error("not a version: " + version);
    }
  }
  if (defect.fixed_on.empty() || is_date(defect.fixed_on)) return {};
  return at.error("fixed_on: expected a date like 2026-02-13, found " + defect.fixed_on);
}

// Nothing is read of the conditions for other frameworks than that they parse.
Result<bool> read_condition(const JsonView& at, const Register& by, Rule& condition) {
  SP_TRY(const JsonView conditions, at.at("conditions"));
  if (!conditions.is_object()) return conditions.error("expected an object");
  bool found = false;
  for (const std::string& framework : conditions.keys()) {
    SP_TRY(Rule rule, rule_at(conditions, framework));
    if (framework != by.framework) continue;
    if (const auto done = resolve_rule(by, rule); !done) return at.error(done.error().text);
    condition = std::move(rule);
    found = true;
  }
  return found;
}

Result<Defect> read_defect(const JsonView& at) {
  SP_CHECK(check_keys(at, kDefect, kDefectOptional));
  Defect defect;
  for (const auto& [key, member] : {std::pair{"id", &Defect::id},
                                    {"effect", &Defect::effect},
                                    {"kind", &Defect::kind},
                                    {"reference", &Defect::reference},
                                    {"package", &Defect::package},
                                    {"introduced", &Defect::introduced},
                                    {"fixed_in", &Defect::fixed_in},
                                    {"fixed_on", &Defect::fixed_on}}) {
    SP_TRY(defect.*member, text_at(at, key));
  }
  SP_TRY(defect.shows_in, texts_at(at, "shows_in"));
  SP_TRY(const std::size_t confidence, word_at(at, "confidence", kConfidences));
  defect.confidence = static_cast<Confidence>(confidence);
  SP_CHECK(check_window(defect, at));
  return defect;
}

std::string text_fact(const recipe::FinalValues& values, std::string_view name) {
  const auto it = values.facts.find(std::string(name));
  const bool text = it != values.facts.end() && it->second.is_string();
  return text ? it->second.get<std::string>() : std::string();
}

// Versions and dates of what lies beneath the framework are facts: te_version, torch_version,
// megatron_core_version, megatron_core_source_date.
Truth window_of(const Defect& defect, const recipe::FinalValues& values) {
  std::string prefix = defect.package == "transformer-engine" ? "te" : defect.package;
  std::replace(prefix.begin(), prefix.end(), '-', '_');
  const bool own = defect.package == values.framework;
  const std::string version = own ? values.version : text_fact(values, prefix + "_version");
  return in_window(defect, version,
                   text_fact(values, own ? "source_date" : prefix + "_source_date"));
}

struct Applies {
  Truth truth;
  std::vector<std::string> unknown;
};

Applies applies(const Defect& defect, const Register& by, const recipe::FinalValues& values,
                const recipe::FinalValues& before) {
  const Truth window = window_of(defect, values);
  if (window == Truth::no) return {Truth::no, {}};
  RuleAnswer answer =
      evaluate(defect.condition, {values, before, {}, Truth::unknown, &by.fact_rules});
  const Truth truth = answer.truth();
  if (truth == Truth::no) return {Truth::no, {}};
  if (window == Truth::unknown) answer.unknown.push_back("the version of " + defect.package);
  const bool sure = window == Truth::yes && truth == Truth::yes;
  return {sure ? Truth::yes : Truth::unknown, std::move(answer.unknown)};
}

// The names a rule depends on, through the facts that are computed from others.
void names_of(const Rule& rule, const FactRules& facts, int depth, std::vector<RuleName>& names) {
  for (const RuleName& name : rule.names()) {
    names.push_back(name);
    const auto fact = facts.find(name.name);
    if (name.space != RuleName::Space::fact || fact == facts.end() || depth == 0) continue;
    names_of(fact->second, facts, depth - 1, names);
  }
}

std::vector<RuleName> names_of(const Defect& defect, const Register& by) {
  constexpr int kMostDepth = 4;
  std::vector<RuleName> names;
  names_of(defect.condition, by.fact_rules, kMostDepth, names);
  return names;
}

bool is_touched(const Defect& defect, const Register& by, const recipe::FinalValues& candidate,
                const recipe::FinalValues& baseline) {
  if (window_of(defect, candidate) != window_of(defect, baseline)) return true;
  const RuleScope after{candidate, baseline, {}, Truth::unknown, nullptr};
  const RuleScope before{baseline, baseline, {}, Truth::unknown, nullptr};
  const auto names = names_of(defect, by);
  return std::any_of(names.begin(), names.end(), [&](const RuleName& name) {
    return value_of(name, after) != value_of(name, before);
  });
}

}  // namespace

Result<Defects> parse_defects(std::string_view text, const std::string& what, const Register& by) {
  SP_TRY(const base::Json json, base::parse_json(text, what));
  const JsonView at(json, what);
  SP_CHECK(check_keys(at, kTop, kTopOptional));
  SP_CHECK(word_at(at, "schema", kSchema));
  SP_TRY(const JsonView list, at.at("defects"));
  SP_TRY(const std::vector<JsonView> items, list.items());
  Defects defects;
  defects.hash = base::sha256_hex(text);
  std::vector<std::string> ids;
  for (const JsonView& item : items) {
    const JsonView named = named_entry(item, "id");
    SP_TRY(Defect defect, read_defect(named));
    if (std::find(ids.begin(), ids.end(), defect.id) != ids.end())
      return named.error("stands twice");
    ids.push_back(defect.id);
    SP_TRY(const bool concerned, read_condition(named, by, defect.condition));
    if (concerned) defects.all.push_back(std::move(defect));
  }
  return defects;
}

Result<Defects> shipped_defects(const Register& by) {
  constexpr std::string_view kPath = "registers/defects.json";
  const auto text = base::embedded_file(kPath);
  if (!text) return Error::environment("registers/defects.json is not part of this program");
  return parse_defects(*text, std::string(kPath), by);
}

Truth in_window(const Defect& defect, std::string_view version, std::string_view date) {
  const auto build = parse_python_version(version);
  const auto first = parse_python_version(defect.introduced);
  const auto fixed = parse_python_version(defect.fixed_in);
  const auto yes_if = [](bool condition) { return condition ? Truth::yes : Truth::no; };
  if (build && first && *build < *first) return Truth::no;
  if (first && !build && date.empty()) return Truth::unknown;
  if (build && fixed && (build->epoch != fixed->epoch || build->release != fixed->release)) {
    return yes_if(*build < *fixed);
  }
  if (is_date(date) && !defect.fixed_on.empty()) return yes_if(date < defect.fixed_on);
  if (!fixed) return defect.fixed_on.empty() ? Truth::yes : Truth::unknown;
  if (!build) return Truth::unknown;
  const bool from_source = !build->local.empty() && *build >= *fixed;
  return from_source ? Truth::unknown : yes_if(*build < *fixed);
}

std::vector<DefectMatch> match_defects(const Defects& defects, const Register& by,
                                       const recipe::FinalValues& candidate,
                                       const recipe::FinalValues& baseline) {
  std::vector<DefectMatch> matches;
  for (const Defect& defect : defects.all) {
    Applies after = applies(defect, by, candidate, baseline);
    if (after.truth == Truth::no) continue;
    matches.push_back({&defect, after.truth, applies(defect, by, baseline, baseline).truth,
                       is_touched(defect, by, candidate, baseline), std::move(after.unknown)});
  }
  return matches;
}

Truth defect_matched(const std::vector<DefectMatch>& matches, const Register& by,
                     const RuleName& name) {
  Truth found = Truth::no;
  for (const DefectMatch& match : matches) {
    const auto names = names_of(*match.defect, by);
    const bool concerned = std::any_of(names.begin(), names.end(), [&](const RuleName& n) {
      return n.space == name.space && n.name == name.name;
    });
    if (!concerned) continue;
    if (match.applies == Truth::yes) return Truth::yes;
    found = Truth::unknown;
  }
  return found;
}

}  // namespace setpoint::judge
