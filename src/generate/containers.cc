// SPDX-License-Identifier: Apache-2.0
#include "generate/containers.h"

#include <fmt/format.h>

#include <optional>

#include "base/embedded.h"
#include "base/json.h"
#include "base/version.h"

namespace setpoint::generate {
namespace {

using base::Json;

const Json& containers() {
  static const Json kData =
      Json::parse(base::embedded_file("recipes/serve/containers.json").value_or("{}"));
  return kData;
}

std::string filled(const Json& pattern, const std::string& version) {
  return fmt::format(fmt::runtime(pattern.get<std::string>()), version);
}

// A post-release of a candidate stands where its candidate does.
std::optional<base::Version> order_of(const std::string& version) {
  if (auto exact = base::parse_version(version)) return exact;
  return base::parse_version(version.substr(0, version.find(".post")));
}

}  // namespace

std::string engine_image(const std::string& framework, const std::string& version) {
  return filled(containers().at("engines").at(framework), version);
}

Result<DynamoRelease> dynamo_release(const std::string& framework, const std::string& version) {
  const Json& dynamo = containers().at("dynamo");
  const auto wanted = order_of(version);
  const Json* found = nullptr;
  std::string oldest;
  for (const Json& release : dynamo.at("releases")) {
    const std::string inside = release.at(framework);
    if (oldest.empty()) oldest = inside;
    const auto order = order_of(inside);
    if (inside == version || (wanted && order && *order <= *wanted)) found = &release;
  }
  if (found == nullptr) {
    return Error::bad_input(
        fmt::format("--framework-version {}: no Dynamo release carries {} this old; the oldest "
                    "known carries {}",
                    version, framework, oldest));
  }
  DynamoRelease out;
  out.version = found->at("version");
  out.engine_version = found->at(framework);
  out.image = filled(dynamo.at("images").at(framework), out.version);
  out.mode_flag = *base::parse_version(out.version) >=
                  *base::parse_version(dynamo.at("mode_flag_since").get<std::string>());
  if (out.engine_version != version) {
    out.note = fmt::format("Dynamo {} carries {} {}, not {}: its flags are written", out.version,
                           framework, out.engine_version, version);
  }
  return out;
}

Sidecar llm_d_sidecar(const std::string& framework) {
  const Json& data = containers().at("llm_d");
  return {data.at("sidecar"), data.at("connectors").value(framework, std::string())};
}

}  // namespace setpoint::generate
