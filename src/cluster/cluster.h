// SPDX-License-Identifier: Apache-2.0
// Where runs are launched. A cluster takes a judge's permit and nothing else, finds the frozen
// snapshot that the permit names in the campaign's own store, and reports what its clock and its
// processes say. Two kinds: a simulated one and this machine.
//
// The client may be killed at any moment: a launch is known by its lease, submitting the same lease
// again answers with the allocation that is there, and every allocation stays known after restart.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/permit.h"
#include "setpoint/budget.h"

namespace setpoint::cluster {

// `ended`: its processes are gone, the GPUs are still held.
enum class Life : std::uint8_t { queued, running, ended, released };
inline constexpr std::array<std::string_view, 4> kLives{"queued", "running", "ended", "released"};

// What the cluster says about one allocation.
struct Report {
  judge::Allocation held;  // nodes and job by the cluster's clock; no holds while queued
  std::string lease;
  Life life = Life::queued;
  std::string outcome;  // as the ledger's record of a run names it; empty until it ended
  std::optional<int> exit_code;
  std::string cause;  // in the cluster's words: "node sim-3 failed its health check"
  Seconds now{};      // the cluster's clock at this answer
  // "log"; "values": what recipe::read_run reads; "signals", "trace" where the run writes them.
  std::map<std::string, std::filesystem::path> files;
};

class Cluster {
 public:
  virtual ~Cluster() = default;
  // The allocation's id. Errors: the snapshot is not in the store; more GPUs than there are.
  virtual Result<std::string> submit(const judge::Permit& permit) = 0;
  virtual Result<Report> poll(const std::string& allocation) = 0;
  virtual std::optional<std::string> find(const std::string& lease) const = 0;
  // Kills what runs, or takes it off the queue. GPUs stay held until release.
  virtual Result<void> cancel(const std::string& allocation) = 0;
  virtual Result<void> release(const std::string& allocation) = 0;
  // Lets time pass: until that run has something new to report, at most this long.
  virtual Result<void> wait(const std::string& allocation, Seconds most) = 0;
  virtual Seconds now() const = 0;
  virtual std::vector<std::string> nodes() const = 0;
};

}  // namespace setpoint::cluster
