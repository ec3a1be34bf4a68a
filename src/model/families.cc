// SPDX-License-Identifier: Apache-2.0
#include "model/families.h"

#include "base/embedded.h"

namespace setpoint::model {

Result<Families> Families::load() {
  constexpr std::string_view kPath = "perfdb/families.json";
  const auto text = base::embedded_file(kPath);
  if (!text) return Error::environment("families.json is not in this binary");
  SP_TRY(const base::Json json, base::parse_json(*text, std::string(kPath)));
  const base::JsonView view(json, std::string(kPath));
  Families out;
  SP_TRY(const auto refused, view.at("unsupported_fields"));
  for (const std::string& field : refused.keys()) {
    SP_TRY(const auto entry, refused.at(field));
    SP_TRY(std::string meaning, entry.string());
    out.unsupported_fields.push_back({field, std::move(meaning)});
  }
  SP_TRY(const auto alpha, view.at("alpha"));
  SP_TRY(const auto mla, alpha.at("mla"));
  SP_TRY(out.alpha_mla, mla.number(0, 10));
  SP_TRY(const auto moe, alpha.at("moe"));
  SP_TRY(out.alpha_moe, moe.number(0, 10));
  SP_TRY(const auto architectures, view.at("architectures"));
  out.architectures_ = architectures.json();
  return out;
}

Architecture Families::find(const std::string& architecture) const {
  Architecture out;
  const auto it = architectures_.find(architecture);
  if (it == architectures_.end()) return out;
  out.known = true;
  out.family = it->value("family", "");
  out.unsupported = it->value("unsupported", "");
  if (const auto defaults = it->find("defaults"); defaults != it->end()) out.defaults = *defaults;
  return out;
}

}  // namespace setpoint::model
