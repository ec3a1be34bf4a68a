// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/fields.h"
#include "recipe/forms.h"

namespace setpoint::recipe {
namespace {

using base::JsonView;

Result<void> take_environment(const JsonView& object, FinalValues& to) {
  if (!object.is_object()) return object.error("expected an object of texts");
  for (const auto& [name, value] : object.json().items()) {
    SP_TRY(to.environment[name], JsonView(value, object.path() + "." + name).string());
  }
  return {};
}

}  // namespace

Result<FinalValues> read_generic_json(const base::Json& json, const std::string& what) {
  const std::vector<std::string> known{"framework", "version", "parameters", "environment",
                                       "facts"};
  const JsonView view(json, what);
  SP_CHECK(view.only(known));
  FinalValues values;
  if (const auto framework = view.find("framework")) {
    SP_TRY(values.framework, framework->string());
  }
  if (const auto version = view.find("version")) {
    SP_TRY(values.version, version->string());
  }
  if (const auto parameters = view.find("parameters")) {
    if (!parameters->is_object()) return parameters->error("expected an object");
    if (values.framework.empty()) return view.error("key \"framework\" is missing");
    for (const auto& [key, value] : parameters->json().items()) {
      if (auto flat = flatten(value, key, values); !flat.ok()) {
        return flat.error().at(parameters->path());
      }
    }
  } else if (!values.framework.empty()) {
    return view.error("key \"parameters\" is missing");
  }
  if (const auto environment = view.find("environment")) {
    SP_CHECK(take_environment(*environment, values));
  }
  if (const auto facts = view.find("facts")) {
    if (!facts->is_object()) return facts->error("expected an object");
    for (const auto& [name, value] : facts->json().items()) values.facts[name] = value;
  }
  return values;
}

Result<FinalValues> read_environment_json(const base::Json& json, const std::string& what) {
  FinalValues values;
  SP_CHECK(take_environment(JsonView(json, what), values));
  return values;
}

Result<FinalValues> read_environ(std::string_view text, const std::string& what) {
  FinalValues values;
  while (!text.empty()) {
    const std::string entry(text.substr(0, text.find('\0')));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const std::size_t equals = entry.find('=');
    if (entry.empty()) continue;
    if (equals == std::string::npos || equals == 0) {
      return Error::bad_input(
          fmt::format("{}: expected NAME=VALUE, found {}", what, base::shown(entry)));
    }
    if (!values.environment.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second) {
      return Error::bad_input(fmt::format("{}: variable {} is stated twice", what,
                                          base::shown(entry.substr(0, equals))));
    }
  }
  return values;
}

}  // namespace setpoint::recipe
