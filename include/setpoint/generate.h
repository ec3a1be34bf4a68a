// SPDX-License-Identifier: Apache-2.0
// Launch files of one configuration. The way there: a Deployment (what was chosen) -> Settings
// (what every engine must be told, in no engine's words) -> Commands (one engine's words, of one
// version)
// -> Files of one target, checked as a whole before any of them is written.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "search/estimate.h"
#include "setpoint/estimate.h"
#include "setpoint/result.h"
#include "setpoint/search.h"

namespace setpoint::generate {

enum class Target : std::uint8_t { run, compose, k8s, dynamo, llm_d, slurm };
inline constexpr std::array<std::string_view, 6> kTargetNames{"run",    "compose", "k8s",
                                                              "dynamo", "llm-d",   "slurm"};
std::optional<Target> target_named(std::string_view name);

// What a user may add to a configuration; every field has a default that starts.
struct Options {
  Target target = Target::run;
  std::string engine_version;              // of the deployed engine; "" = the one of the tables
  std::string served_name;                 // the name clients ask for; "" = the model's id
  std::string model_path;                  // what the engine is told to load; "" = the model's id
  std::string image;                       // container; "" = the engine's own published one
  std::string namespace_name = "default";  // Kubernetes
  std::int64_t port = 8000;                // where clients connect
  bool prefix_cache = true;                // the engine's own default
  bool trust_remote_code = false;          // code that the checkpoint brings may run
  bool lenient = false;  // a setting without a flag is left out with a warning, not refused
};

// One configuration, re-priced from the row of a search or given by flags, so that memory and
// layout come from this project's own model and never from a file that somebody edited.
struct Deployment {
  search::EstimateRequest request;
  search::Resolved inputs;
  Estimate estimate;                 // memory parts of each worker included
  std::optional<base::Json> stated;  // CONFIG of the result file, where its figures differ
  std::vector<std::string> notes;    // what differs, and other things to say before launching
};

// A file of a plan: its path below the output folder.
struct File {
  std::string path, text;
  bool executable = false;
  bool operator==(const File&) const = default;
};

// Those that can run this deployment, in the order of kTargetNames.
std::vector<Target> targets_for(const Deployment& deployment, const Options& options);

// Everything that a launch needs, checked; nothing is written here. Errors (exit 2) name the field
// or the flag and what would be right; code `no` where a target cannot run this deployment, with
// the targets that can.
Result<std::vector<File>> generate(const Deployment& deployment, const Options& options);

}  // namespace setpoint::generate
