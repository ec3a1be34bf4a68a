// SPDX-License-Identifier: Apache-2.0
#include "ledger/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "base/sha256.h"
#include "base/text.h"

namespace setpoint::ledger {
namespace {

using base::Json;

#define PURPOSES "baseline|readiness|trial|confirm|check|profile|repeat"

struct Row {
  std::string_view kind, fields;  // name:type, or name:one|of|these; a '?' after the name: optional
};

constexpr std::array kRows{
    Row{"contract",
        "format:count name:text recipe:digest model:text checkpoint:text data:text data_order:text "
        "sequence_length:count examples_per_step:count precision:text optimizer:text "
        "cluster:object gpus:count framework:text framework_version:text container:text "
        "register_hash:digest defect_hash:digest steps:count warmup_steps:count score_rule:text "
        "time_limit_s:amount time_limit_factor:amount budget_gpu_hours:amount "
        "baseline_purse_gpu_hours?:amount baseline_runs:count seeds:list pins?:object "
        "options?:object"},
    Row{"phase",
        "to:baseline|ready|searching|finishing|reported|lessons_review|closed|paused reason:text"},
    Row{"baseline_run",
        "trial:name machines:texts valid:bool tokens_per_s_per_gpu?:amount wall_s?:amount "
        "first_loss?:number why?:text details?:object"},
    Row{"noise", "n:count mean:amount sd:amount sigma:amount band:amount runs:texts"},
    Row{"hypothesis",
        "id:name bottleneck:text why:text expected_gain_percent:number lever:text parameters:list "
        "parent:text"},
    Row{"proposal", "id:name hypothesis?:name diff:object requested_hash:digest levers:texts"},
    Row{"gate1",
        "proposal:name effective_hash:digest differences:list unknown:list defects:list "
        "splits?:object verdict:pass|reject|review|unchanged reason?:text"},
    Row{"refusal",
        "proposal?:name effective_hash?:digest text:text "
        "why:budget|repeat_failed|gate1|two_levers|no_hypothesis|source_edit|no_profile|no_cause|"
        "pins_changed|not_allowed"},
    Row{"intent",
        "trial:name purpose:" PURPOSES
        " proposal?:name snapshot:digest effective_hash:digest gpus:count time_limit_s:amount "
        "reserve_gpu_hours:amount lease:name nodes?:texts"},
    Row{"allocation", "allocation:name trial:name nodes:list cluster_now_s:number"},
    Row{"release",
        "allocation:name nodes:list how:released|cancelled|preempted|node_failure|observed_free "
        "health_record?:text cluster_now_s:number"},
    Row{"run",
        "trial:name outcome:done|failed|out_of_memory|timeout|mismatch|preempted|node_failure|lost|"
        "never_started exit?:number start_s?:number end_s?:number logs?:object steps?:list "
        "signals?:object cause?:text"},
    Row{"profile",
        "trial:name computation_ms:amount gpu_communication_ms:amount cpu_side_ms:amount "
        "idle_ms:amount tool:text details?:object"},
    Row{"gate2",
        "trial:name first_loss?:number base?:number relative_difference?:number signals:list "
        "verdict:ok|suspect|fail reason?:text"},
    Row{"score",
        "trial:name tokens_per_s_per_gpu:amount steps:list compared_with:text threshold:amount "
        "beats:bool parked:bool"},
    Row{"promotion", "trial:name confirming_trial:name mean:amount threshold:amount replaced:bool"},
    Row{"charge", "trial:name allocation?:name gpu_hours:amount category:" PURPOSES
                  " purse:campaign|baseline total_gpu_hours:amount overrun:bool corrects?:count "
                  "notes?:texts"},
    Row{"assumption", "question:text default:text"},
    Row{"blocked_command", "text:text rule:text"},
    Row{"stop_request", "reason:text evidence:list accepted:bool why?:text"},
    Row{"stop", "reason:text evidence:list"},
    Row{"report", "files:object"},
    Row{"lesson",
        "id:name claim:text scope:object evidence:list counter_evidence?:list expiry?:text"},
    Row{"lesson_review",
        "lesson:name state:accepted|rejected|suspended|retired reviewer:text why?:text"},
    Row{"drift", "trial:name value:amount mean:amount least:amount most:amount"},
    Row{"note", "text:text about?:count details?:object"},
};

constexpr std::size_t kLongestName = 200;

bool every(const Json& list, bool (*holds)(const Json&)) {
  return list.is_array() && std::all_of(list.begin(), list.end(), holds);
}
bool is_text(const Json& value) { return value.is_string(); }
bool is_number(const Json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}
bool is_amount(const Json& value) { return is_number(value) && value.get<double>() >= 0; }

struct Type {
  std::string_view name, expected;
  bool (*holds)(const Json&);
};
constexpr std::array kTypes{
    Type{"text", "text", &is_text},
    Type{"name", "a name of 1 to 200 bytes",
         [](const Json& v) {
           return v.is_string() && !v.get_ref<const std::string&>().empty() &&
                  v.get_ref<const std::string&>().size() <= kLongestName;
         }},
    Type{"digest", "a SHA-256 in 64 hexadecimal digits",
         [](const Json& v) {
           return v.is_string() && base::is_sha256_hex(v.get_ref<const std::string&>());
         }},
    Type{"bool", "true or false", [](const Json& v) { return v.is_boolean(); }},
    Type{"number", "a finite number", &is_number},
    Type{"amount", "a number of at least 0", &is_amount},
    Type{"count", "a whole number of at least 0",
         [](const Json& v) { return v.is_number_integer() && is_amount(v); }},
    Type{"object", "an object", [](const Json& v) { return v.is_object(); }},
    Type{"list", "a list", [](const Json& v) { return v.is_array(); }},
    Type{"texts", "a list of texts", [](const Json& v) { return every(v, &is_text); }},
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

KindSpec parse(const Row& row) {
  KindSpec kind{std::string(row.kind), {}};
  for (const std::string& word : split(std::string(row.fields), ' ')) {
    const std::size_t colon = word.find(':');
    FieldSpec field{word.substr(0, colon), word.substr(colon + 1), {}, true};
    if (field.name.back() == '?') {
      field.name.pop_back();
      field.required = false;
    }
    if (field.type.find('|') != std::string::npos) {
      field.choices = split(field.type, '|');
      field.type.clear();
    }
    kind.fields.push_back(std::move(field));
  }
  return kind;
}

Result<void> check(const FieldSpec& field, const Json& value) {
  if (!field.choices.empty()) {
    const bool known =
        value.is_string() && std::find(field.choices.begin(), field.choices.end(),
                                       value.get<std::string>()) != field.choices.end();
    if (known) return {};
    return Error::bad_input(
        fmt::format("{}: expected {}", field.name, base::join(field.choices, " or ")));
  }
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const Type& one) { return one.name == field.type; });
  if (type->holds(value)) return {};
  return Error::bad_input(fmt::format("{}: expected {}", field.name, type->expected));
}

}  // namespace

const std::vector<KindSpec>& kinds() {
  static const std::vector<KindSpec> all = [] {
    std::vector<KindSpec> parsed;
    for (const Row& row : kRows) parsed.push_back(parse(row));
    return parsed;
  }();
  return all;
}

Result<void> check_fields(const std::string& kind, const base::Json& fields) {
  std::vector<std::string> names;
  for (const KindSpec& one : kinds()) {
    names.push_back(one.name);
    if (one.name != kind) continue;
    std::vector<std::string> known;
    for (const FieldSpec& field : one.fields) {
      known.push_back(field.name);
      const auto value = fields.find(field.name);
      if (value != fields.end()) {
        SP_CHECK(check(field, *value));
      } else if (field.required) {
        return Error::bad_input(fmt::format("field \"{}\" is missing", field.name));
      }
    }
    return base::JsonView(fields, kind).only(known);
  }
  return Error::bad_input(base::unknown_name("kind", kind, names));
}

}  // namespace setpoint::ledger
