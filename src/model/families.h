// SPDX-License-Identifier: Apache-2.0
// perfdb/families.json: what an architecture's own code fixes and its config.json therefore does
// not say, and the fields that mean a kind of layer which is not priced yet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace setpoint::model {

struct Architecture {
  bool known = false;
  std::string family;       // label for people, "" = derived from the fields
  std::string unsupported;  // why this architecture is refused, "" = it is not
  base::Json defaults = base::Json::object();
};

struct UnsupportedField {
  std::string field, meaning;
};

struct Families {
  static Result<Families> load();  // the embedded file
  Architecture find(const std::string& architecture) const;
  std::vector<UnsupportedField> unsupported_fields;
  double alpha_mla = 0, alpha_moe = 0;  // power-law exponents of expert loads

 private:
  base::Json architectures_;
};

}  // namespace setpoint::model
