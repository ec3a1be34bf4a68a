// SPDX-License-Identifier: Apache-2.0
#include "generate/flag_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/embedded.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "framework/framework.h"

namespace setpoint::generate {
namespace {

constexpr std::array<std::pair<std::string_view, FlagType>, 6> kTypes{
    {{"flag", FlagType::flag},
     {"integer", FlagType::integer},
     {"number", FlagType::number},
     {"text", FlagType::text},
     {"json", FlagType::json},
     {"list", FlagType::list}}};

std::vector<std::string> strings(const base::Json& list) {
  return list.get<std::vector<std::string>>();
}

Result<base::Json> read(const std::string& framework) {
  const auto& known = framework::framework_names();
  const std::string path = "recipes/serve/" + framework + ".json";
  const auto text = base::embedded_file(path);
  if (!text || std::find(known.begin(), known.end(), framework) == known.end()) {
    return Error::bad_input(base::unknown_name("framework", framework, known));
  }
  return base::parse_json(*text, path);
}

// Index of the version whose flags are taken: itself or the nearest lower.
Result<std::size_t> choose(const std::string& framework, const std::string& version,
                           const std::vector<std::string>& known) {
  const auto wanted = base::parse_version(version);
  if (!wanted) {
    return Error::bad_input(framework + " version " + base::shown(version) +
                            ": expected one like " + known.back());
  }
  const auto later = [&](const std::string& one) { return *base::parse_version(one) > *wanted; };
  const auto end = std::find_if(known.begin(), known.end(), later);
  if (end != known.begin()) return static_cast<std::size_t>(end - known.begin()) - 1;
  return Error::bad_input(
      framework + " " + version +
      " is older than every version whose flags are known: " + base::join(known));
}

FlagType type_named(const std::string& name) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const auto& type) { return type.first == name; });
  return found == kTypes.end() ? FlagType::text : found->second;
}

FlagInfo info(const std::string& name, const base::Json& span) {
  FlagInfo flag;
  flag.name = name;
  flag.type = type_named(span.at("type").get<std::string>());
  if (span.contains("of")) flag.element = type_named(span["of"].get<std::string>());
  if (span.contains("choices")) flag.choices = strings(span["choices"]);
  return flag;
}

// First and last version, as indices, of one run in which a flag takes the same.
std::pair<std::size_t, std::size_t> reach(const base::Json& span,
                                          const std::vector<std::string>& known) {
  const auto index = [&](const char* key, std::size_t otherwise) {
    if (!span.contains(key)) return otherwise;
    const auto at = std::find(known.begin(), known.end(), span[key].get<std::string>());
    return static_cast<std::size_t>(at - known.begin());
  };
  return {index("since", 0), index("until", known.size() - 1)};
}

std::string shown_type(FlagType type) {
  for (const auto& [name, value] : kTypes) {
    if (value == type) return std::string(name);
  }
  return "text";
}

bool fits(FlagType type, const std::string& value) {
  constexpr double kLargest = 9e15;  // whole numbers are exact below
  switch (type) {
    case FlagType::flag:
      return value.empty() || value == "true" || value == "false";
    case FlagType::integer:  // digits only: no engine reads 1e6 or 8.0 as a whole number
      return value.find_first_of(".eE") == value.npos &&
             base::parse_number(value, {-kLargest, kLargest, true}).ok();
    case FlagType::number:
      return base::parse_number(value, {-kLargest, kLargest, false}).ok();
    case FlagType::json:
      return base::parse_json(value, "value").ok();
    case FlagType::text:
    case FlagType::list:
      return true;
  }
  return true;
}

}  // namespace

Result<FlagTable> FlagTable::open(const std::string& framework, const std::string& version) {
  SP_TRY(const base::Json file, read(framework));
  const std::vector<std::string> known = strings(file.at("versions"));
  SP_TRY(const std::size_t chosen, choose(framework, version, known));
  FlagTable table;
  table.framework_ = framework;
  table.version_ = version;
  table.table_version_ = known[chosen];
  if (base::parse_version(version) != base::parse_version(known[chosen])) {
    table.note_ = framework + " " + version + ": flags are those of " + known[chosen] +
                  ", the nearest lower version that is known";
  }
  for (const auto& [from, to] : file.at("renamed").items()) table.successor_[from] = to;
  for (const auto& [name, spans] : file.at("flags").items()) {
    std::size_t nearest = known.size();
    const auto distance = [&](std::size_t at) { return at > chosen ? at - chosen : chosen - at; };
    for (const base::Json& span : spans) {
      const auto [first, last] = reach(span, known);
      if (first <= chosen && chosen <= last) table.flags_.emplace(name, info(name, span));
      const std::size_t near = std::clamp(chosen, first, last);
      if (nearest == known.size() || distance(near) < distance(nearest)) nearest = near;
    }
    if (nearest != chosen) table.elsewhere_[name] = known[nearest];
  }
  return table;
}

bool FlagTable::has(const std::string& name) const { return flags_.contains(name); }

Result<FlagInfo> FlagTable::find(const std::string& name) const {
  const auto renamed = successor_.find(name);
  const auto found = renamed != successor_.end() && has(renamed->second)
                         ? flags_.find(renamed->second)
                         : flags_.find(name);
  if (found != flags_.end()) return found->second;
  const std::string here = framework_ + " " + table_version_ + " has no " + name;
  const auto other = elsewhere_.find(name);
  if (other != elsewhere_.end()) {
    return Error::bad_input(here + ": the nearest version that has it is " + other->second);
  }
  std::vector<std::string> names;
  for (const auto& [key, flag] : flags_) names.push_back(key);
  return Error::bad_input(here + ", nor has any other version; nearest known: " +
                          base::join(base::nearest(name, names)));
}

Result<void> FlagTable::accepts(const FlagInfo& flag, const std::string& value) const {
  const std::string where = framework_ + " " + table_version_ + " " + flag.name;
  if (!flag.choices.empty()) {
    if (std::find(flag.choices.begin(), flag.choices.end(), value) != flag.choices.end()) return {};
    return Error::bad_input(where + ": expected one of " + base::join(flag.choices) + ", found " +
                            base::shown(value));
  }
  const FlagType type = flag.type == FlagType::list ? flag.element : flag.type;
  if (fits(type, value)) return {};
  return Error::bad_input(where + ": expected " + shown_type(type) + ", found " +
                          base::shown(value));
}

}  // namespace setpoint::generate
