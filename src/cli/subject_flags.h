// SPDX-License-Identifier: Apache-2.0
// The flags that search, estimate and support share: model, GPU, framework, requests, data.
#pragma once

#include "cli/flags.h"
#include "setpoint/search.h"

namespace setpoint::cli {

struct SubjectFlags {
  search::Subject subject;
  std::string framework = "all", data = "hybrid", database, decode_system;
  Strings quant;
  std::string version_help = "A version that has tables; default: current";

  void declare(Flags& flags);
  void declare_decode_system(Flags& flags);
  // After parsing: the subject with everything that came as text.
  Result<search::Subject> resolve() const;
};

// --data and what its words mean.
void declare_data(Flags& flags, std::string& data);
perfdb::DataMode data_mode(const std::string& data);

// Of the shared inputs, by JSON name, those that were not given.
Strings assumed(const Flags& flags);

}  // namespace setpoint::cli
