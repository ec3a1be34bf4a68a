// SPDX-License-Identifier: Apache-2.0
// Pieces of Kubernetes objects that several targets write, as JSON values for yaml().
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "generate/command.h"
#include "generate/target.h"

namespace setpoint::generate {

// A DNS-1123 label: lower case, digits and dashes, begins with a letter, at most `most` characters.
// Different texts that had to be cut or changed get different names (a short hash at the end).
std::string dns_name(std::string_view text, std::size_t most);
// The plan's own name, from what clients ask for; short enough for workers' names behind it.
std::string app_name(const Plan& plan);

// Arguments as a pod has them: Kubernetes expands $(NAME) itself, so literal ones are escaped.
base::Json pod_words(const std::vector<Word>& words, std::size_t from);
// Rank of a worker's other nodes: known where there is one of them, else what the pod is told.
Word follower_rank(std::int64_t nodes, const Word& told);
// Environment of a command, an optional hub token and this pod's address as POD_IP before it.
base::Json pod_env(const Command& command);
// Shared memory, model cache and, if there is one, the engine's options file.
struct PodStorage {
  std::string cache_claim;  // PersistentVolumeClaim of the model cache, "" = an empty folder
  std::string config_map;   // "" = none
  std::int64_t shm_gib = 8;
};
PodStorage storage_of(const Plan& plan, const RoleSettings& role);
base::Json volumes(const PodStorage& storage);
base::Json volume_mounts(const PodStorage& storage);
inline constexpr std::string_view kCacheFolder = "/model-cache";     // HF_HOME of every pod
inline constexpr std::string_view kConfigFolder = "/engine-config";  // options file of the engine

// The container of one worker: command, environment, GPUs, ports, probes and mounts.
base::Json worker_container(const Plan& plan, const RoleSettings& role, const Command& command,
                            const Place& place, const PodStorage& storage);
// Probes of /health on the named port; weights may take an hour to load.
base::Json probes();

base::Json metadata(const std::string& name, const Plan& plan, const base::Json& labels);
base::Json labels(const Plan& plan, std::string_view component);
// A claim for the model cache, sized to the weights of all parts of the model.
base::Json cache_claim(const Plan& plan, const std::string& name, bool many_nodes);
std::int64_t model_gib(const Plan& plan);

}  // namespace setpoint::generate
