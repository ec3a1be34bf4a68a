// SPDX-License-Identifier: Apache-2.0
// YAML out of the project's JSON values: block style, keys in the order given, byte-stable. Strings
// are quoted whenever a YAML 1.1 or 1.2 reader could take them for anything else (no, on, 1e3,
// 0o7, null, 12:30, ..); null values are left out, never written.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace setpoint::generate {

std::string yaml(const base::Json& document);
std::string yaml_documents(const std::vector<base::Json>& documents);  // separated by ---

}  // namespace setpoint::generate
