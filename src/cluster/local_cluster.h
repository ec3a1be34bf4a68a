// SPDX-License-Identifier: Apache-2.0
// This machine as a cluster of one node: each run is a real process in a group of its own. A small
// supervising shell keeps its time limit and writes its exit status, so both hold even while the
// client is dead, and a client that comes back finds what happened.
#pragma once

#include "cluster/cluster.h"
#include "recipe/snapshot.h"

namespace setpoint::cluster {

// What a run starts: the recipe's setting "command" (a list of words). It runs in a folder of its
// own that holds the snapshot's files and values.json (its final values), with the snapshot's
// environment and PATH, and nothing else.
class LocalCluster : public Cluster {
 public:
  static Result<std::unique_ptr<LocalCluster>> open(std::filesystem::path folder,
                                                    std::filesystem::path snapshots, int gpus);

  Result<std::string> submit(const judge::Permit& permit) override;
  Result<Report> poll(const std::string& allocation) override;
  std::optional<std::string> find(const std::string& lease) const override;
  Result<void> cancel(const std::string& allocation) override;
  Result<void> release(const std::string& allocation) override;
  Result<void> wait(const std::string& allocation, Seconds most) override;
  Seconds now() const override;
  std::vector<std::string> nodes() const override;

 private:
  LocalCluster(std::filesystem::path folder, std::filesystem::path snapshots, int gpus)
      : folder_(std::move(folder)), snapshots_(std::move(snapshots)), gpus_(gpus) {}
  std::filesystem::path run(const std::string& allocation) const { return folder_ / allocation; }
  Result<void> prepare(const judge::Permit& permit, const std::filesystem::path& run) const;
  Result<void> start(const std::filesystem::path& run) const;

  std::filesystem::path folder_, snapshots_;
  int gpus_;
};

}  // namespace setpoint::cluster
