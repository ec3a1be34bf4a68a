// SPDX-License-Identifier: Apache-2.0
// A register: for one framework and version range, what a change of each parameter and environment
// variable means. The gate compares final values, looks each difference up here and decides; who
// proposes has no way to write to it, because it is compiled in or pinned by its hash.
// docs/formats/register.md has the file format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "judge/rule.h"
#include "recipe/final_values.h"
#include "setpoint/result.h"

namespace setpoint::judge {

enum class Class : std::uint8_t {
  trained,      // changes what is trained (see Facet): rejected
  layout,       // where or in which order the same is computed: passes
  conditional,  // passes where its rule holds
  measurement,  // alters what is scored or removes evidence: rejected, the campaign sets these
  neutral,      // logs, storage, job control: passes and is listed
  other_mode,   // inference, reinforcement learning, ...: as if it were not in the register
};
enum class Facet : std::uint8_t { data, batch, optimizer, loss, routing, precision, model, init };
enum class Confidence : std::uint8_t { high, medium, low };

// Words as files have them: "changes-what-is-trained", "batch", "high".
std::string_view word(Class value);
std::string_view word(Facet value);
std::string_view word(Confidence value);

// One parameter or environment variable. Only a curated entry of high or medium confidence can let
// a change pass; one judged by its name alone can only reject.
struct Entry {
  std::string name;
  std::vector<std::string> aliases;  // other names that final values may have it under
  std::string type;
  std::optional<base::Json> default_value;  // nothing: computed, or not known
  Class kind = Class::conditional;
  std::optional<Facet> facet;  // of trained ones
  Confidence confidence = Confidence::low;
  bool curated = false;
  std::string reason, doc, review;
  std::optional<Rule> pass_if;
  std::string where;  // "megatron/training/arguments.py:_add_moe_args:3069", or its readers
  std::string flag;

  bool may_pass() const { return curated && confidence != Confidence::low; }
};

// A value that no single parameter tells. Either a reader of final values supplies it, or a rule
// computes it; one that nobody computes stays unknown.
struct Fact {
  std::string name, how;
  std::optional<Rule> value;
};

// Something the framework's own validation sets. `when` all true: it does.
struct SideEffect {
  RuleName target;  // a parameter or a variable
  Rule set_to;
  std::vector<Rule> when;
  std::string where;  // "megatron/training/arguments.py:validate_args:1439"
};

struct Register {
  std::string framework, version, source_revision, version_range, notes;
  std::string hash;                            // SHA-256 of the file's bytes
  std::vector<Entry> parameters, environment;  // in file order; a name may stand more than once
  std::vector<SideEffect> side_effects;        // in the order in which the framework runs them
  std::vector<Fact> facts;
  FactRules fact_rules;

  // By name or alias; nothing when it is not in the register.
  const Entry* parameter(std::string_view name) const;
  const Entry* variable(std::string_view name) const;
  // A name in a rule. An exact name, an alias, or the last part of just one name ("x" of
  // "model.x"); several are an error; one that is unknown stays as it is, without a value.
  Result<RuleName> resolve(const RuleName& name) const;

  std::map<std::string, std::size_t, std::less<>> parameter_index, variable_index;
  std::map<std::string, std::vector<std::string>, std::less<>> by_last_part;
};

// Gives the names in a rule their full form; a fact that is not in the table is an error.
Result<void> resolve_rule(const Register& by, Rule& rule);

// Strict: an unknown key or word, a wrong type, a duplicate, contradicting classes of one name, a
// rule that does not parse or uses an unlisted fact is one line that names file and entry.
Result<Register> parse_register(std::string_view text, const std::string& what);
// A file (its name has a slash or ends in .json), or one of the shipped registers by name.
Result<Register> load_register(const std::string& file_or_name);
std::vector<std::string> register_names();

// Parameters under the register's own names instead of aliases. Where two names of one parameter
// stand, both values stay, one of them under its alias: nothing that could differ is lost.
recipe::FinalValues canonical_names(const Register& by, recipe::FinalValues values);

enum class Verdict : std::uint8_t { pass, reject, unknown };
struct Judgement {
  Verdict verdict = Verdict::unknown;
  const Entry* entry = nullptr;      // of the register; nothing: not in it
  std::string reason;                // one line for a person
  std::vector<std::string> unknown;  // names whose values were missing for a rule
};
// What a change of this parameter or variable means; both sides have canonical names. A version
// known to lie outside the register's range lets nothing pass. `defect_matched`: does a known
// defect that concerns this name apply to the candidate (defects.h)?
Judgement judge_change(const Register& by, const RuleName& name,
                       const recipe::FinalValues& candidate, const recipe::FinalValues& baseline,
                       Truth defect_matched);

}  // namespace setpoint::judge
