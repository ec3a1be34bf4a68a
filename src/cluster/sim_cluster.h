// SPDX-License-Identifier: Apache-2.0
// A cluster that is not there: nodes, a queue, runs and a clock that moves only when asked to, all
// in one file of the campaign's folder that is replaced whole at every change. What a run does is
// worked out from the seed and its lease (sim/run.h), so whoever comes back after a crash finds the
// same cluster, and the same campaign run twice is the same to the last digit.
#pragma once

#include "cluster/cluster.h"
#include "cluster/sim/run.h"
#include "recipe/snapshot.h"

namespace setpoint::cluster {

class SimCluster : public Cluster {
 public:
  // `folder` is made where it is missing and holds cluster.json and runs/; `snapshots` is the store
  // that permits speak of.
  static Result<std::unique_ptr<SimCluster>> open(SimSpec spec, std::filesystem::path folder,
                                                  std::filesystem::path snapshots);

  Result<std::string> submit(const judge::Permit& permit) override;
  Result<Report> poll(const std::string& allocation) override;
  std::optional<std::string> find(const std::string& lease) const override;
  Result<void> cancel(const std::string& allocation) override;
  Result<void> release(const std::string& allocation) override;
  Result<void> wait(const std::string& allocation, Seconds most) override;
  Seconds now() const override { return Seconds(now_); }
  std::vector<std::string> nodes() const override;

 private:
  struct Job {
    std::string id, lease, snapshot, trial;
    std::int64_t gpus = 0;
    double limit_s = 0, ready_s = 0;  // ready: when the queue lets it start at the earliest
    std::vector<std::string> nodes;   // empty: queued
    double start_s = 0, end_s = 0;    // of the job, which starts when its last node is there
    std::optional<double> cancelled_s, released_s;
    std::string outcome, cause;
    std::optional<int> exit_code;
  };
  SimCluster(SimSpec spec, std::filesystem::path folder, std::filesystem::path snapshots)
      : spec_(std::move(spec)), folder_(std::move(folder)), snapshots_(std::move(snapshots)) {}

  Result<Job*> job(const std::string& allocation);
  Result<void> load();
  Result<void> save() const;
  Result<RunPlan> plan(const Job& job) const;
  Result<void> start_waiting();
  Result<void> start(Job& job, std::vector<std::string> nodes);
  double node_start(const Job& job, std::size_t node) const;
  Life life(const Job& job) const;
  judge::Allocation held(const Job& job) const;
  Result<std::map<std::string, std::filesystem::path>> write_files(const Job& job) const;
  double next_change(const Job& job) const;

  SimSpec spec_;
  std::filesystem::path folder_, snapshots_;
  double now_ = 0;
  std::vector<Job> jobs_;
};

}  // namespace setpoint::cluster
