// SPDX-License-Identifier: Apache-2.0
// One bounded GET over libcurl. Answers with any status are values; only what kept an answer from
// coming (name, connection, time-out, size) is an error, in one line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "setpoint/result.h"

namespace setpoint::base {

struct HttpGet {
  std::string url;                   // http or https
  std::vector<std::string> headers;  // "Name: value"; not sent on to another host
  long connect_timeout_ms = 3000;
  long total_timeout_ms = 10000;
  std::size_t most_bytes = std::size_t{16} << 20;
};

struct HttpAnswer {
  long status = 0;
  std::string body;
};

Result<HttpAnswer> http_get(const HttpGet& request);

}  // namespace setpoint::base
