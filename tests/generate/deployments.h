// SPDX-License-Identifier: Apache-2.0
// Deployments to write launch files for, priced by the roofline: no database is needed.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "generate/deployment.h"
#include "generate/settings.h"
#include "search/estimate.h"

namespace setpoint::generate_test {

// `json` as a line of `estimate --requests`.
inline Result<generate::Deployment> try_deployment(const std::string& json) {
  SP_TRY(search::EstimateRequest request, search::parse_request(json, "request"));
  request.subject.data = perfdb::DataMode::roofline;
  static search::Estimator estimator;
  return generate::price(estimator, request);
}

// The value, or the test ends here.
template <class T>
T must(Result<T> made, const std::string& what) {
  if (!made) throw std::runtime_error(what + ": " + made.error().text);
  return std::move(made).value();
}

inline generate::Deployment deployment(const std::string& json) {
  return must(try_deployment(json), json);
}

inline generate::Settings settings_of(const std::string& json,
                                      const generate::Options& options = {}) {
  return must(generate::settings(deployment(json), options), json);
}

inline Error error_of(const std::string& json, const generate::Options& options = {}) {
  auto made = try_deployment(json);
  if (!made) return made.error();
  const auto settings = generate::settings(*made, options);
  EXPECT_FALSE(settings.ok()) << json;
  return settings ? Error{} : settings.error();
}

}  // namespace setpoint::generate_test
