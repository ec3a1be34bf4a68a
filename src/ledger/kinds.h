// SPDX-License-Identifier: Apache-2.0
// The kinds of records and their fields, one table: what is not in it is neither written nor read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "setpoint/result.h"

namespace setpoint::ledger {

struct FieldSpec {
  std::string name;
  std::string type;                  // text, name, count, ...; see kTypes in kinds.cc
  std::vector<std::string> choices;  // instead of a type: the texts it may be
  bool required = true;
};

struct KindSpec {
  std::string name;
  std::vector<FieldSpec> fields;
};

const std::vector<KindSpec>& kinds();

// Kind known, every required field there, no other than the kind's, each of its type. The error
// names the field.
Result<void> check_fields(const std::string& kind, const base::Json& fields);

}  // namespace setpoint::ledger
