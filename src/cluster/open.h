// SPDX-License-Identifier: Apache-2.0
// The cluster that a campaign file asks for.
#pragma once

#include <array>
#include <memory>

#include "cluster/cluster.h"

namespace setpoint::cluster {

struct OpenRequest {
  base::JsonView cluster;           // {"kind": "sim" or "local", ...}
  std::string recipe_gpu;           // what the recipe is written for, by its system's name
  std::int64_t gpus = 0;            // of one run
  std::filesystem::path folder;     // where the cluster keeps its runs
  std::filesystem::path snapshots;  // the store that permits speak of
};
// An unknown kind lists those there are.
Result<std::unique_ptr<Cluster>> open_cluster(const OpenRequest& request);

}  // namespace setpoint::cluster
