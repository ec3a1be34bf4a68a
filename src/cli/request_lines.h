// SPDX-License-Identifier: Apache-2.0
// Files of requests: one JSON answer for each line, in order. A bad line is answered with an error
// and the others are still answered. Lines are read and answered one by one, so memory does not
// grow with the file.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "cli/console.h"
#include "setpoint/result.h"

namespace setpoint::cli {

using AnswerLine = std::function<Result<base::Json>(const base::JsonView& line)>;

// `path` "-": standard input. The line's id (text or number) is given back with its answer. An
// error when there are lines and every one of them is bad.
Result<int> answer_lines(const std::string& path, const Console& console, const AnswerLine& answer);

}  // namespace setpoint::cli
