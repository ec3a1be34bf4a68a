// SPDX-License-Identifier: Apache-2.0
// One question to the database: an operator by its family's name and fields, and where it is asked.
// The form of a line of `aiconf db query --requests` and, as key=value, of its arguments.
#pragma once

#include <string>

#include "base/json.h"
#include "ops/op.h"
#include "setpoint/result.h"

namespace setpoint::cli {

struct OpQuery {
  std::string system, framework, version;  // version empty = the current one
  ops::Op op;
  ops::Point point;
};

// Members: op, system, framework, [version, id], the fields of the operator (docs/formats/query.md)
// and of the point: tokens, or batch and seq [and prefix]. Any other member, and any that is
// missing, is an error.
Result<OpQuery> parse_op_query(const base::JsonView& json);

}  // namespace setpoint::cli
