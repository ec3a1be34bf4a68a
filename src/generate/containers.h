// SPDX-License-Identifier: Apache-2.0
// Published container images of the engines, and which engine version each Dynamo release carries
// (recipes/serve/containers.json).
#pragma once

#include <string>

#include "setpoint/result.h"

namespace setpoint::generate {

// The engine's own published image of this version.
std::string engine_image(const std::string& framework, const std::string& version);

struct DynamoRelease {
  std::string version;         // of Dynamo
  std::string engine_version;  // of the engine inside: the one whose flags count
  std::string image;           // of its workers
  bool mode_flag = true;       // workers take --disaggregation-mode; else --is-prefill-worker
  std::string note;            // said when the engine inside is not the one asked for
};
// The release with this engine version, else the newest one with an older engine. An engine older
// than all releases carry is refused.
Result<DynamoRelease> dynamo_release(const std::string& framework, const std::string& version);

struct Sidecar {
  std::string image, connector;  // connector "" = llm-d has none for this engine
};
Sidecar llm_d_sidecar(const std::string& framework);

}  // namespace setpoint::generate
