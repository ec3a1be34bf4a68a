// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "cluster/sim/log_text.h"
#include "cluster/sim/random.h"

namespace setpoint::cluster {
namespace {

constexpr double kAnswersS = 1;  // what a request to the scheduler takes

}  // namespace

Result<std::unique_ptr<SimCluster>> SimCluster::open(SimSpec spec, std::filesystem::path folder,
                                                     std::filesystem::path snapshots) {
  std::unique_ptr<SimCluster> out(
      new SimCluster(std::move(spec), std::move(folder), std::move(snapshots)));
  std::error_code ec;
  std::filesystem::create_directories(out->folder_ / "runs", ec);
  if (ec) return Error::environment(fmt::format("{}: {}", out->folder_.string(), ec.message()));
  SP_CHECK(out->load());
  return out;
}

std::vector<std::string> SimCluster::nodes() const {
  std::vector<std::string> out;
  for (int i = 0; i < spec_.nodes; ++i) {
    out.push_back(fmt::format("{}-{:03}", spec_.machine.system.name, i));
  }
  return out;
}

std::optional<std::string> SimCluster::find(const std::string& lease) const {
  for (const Job& job : jobs_) {
    if (job.lease == lease) return job.id;
  }
  return std::nullopt;
}

Result<std::string> SimCluster::submit(const judge::Permit& permit) {
  if (const auto known = find(permit.lease())) return *known;
  const int per_node = spec_.machine.system.node.gpus;
  if (permit.gpus() > spec_.nodes * per_node) {
    return Error::bad_input(fmt::format("{} GPUs asked for, the cluster has {}", permit.gpus(),
                                        spec_.nodes * per_node));
  }
  SP_TRY(const recipe::Snapshot snapshot, recipe::Snapshot::load(snapshots_, permit.snapshot()));
  Job job;
  job.id = fmt::format("sim-{:05}", jobs_.size() + 1);
  job.lease = permit.lease();
  job.snapshot = snapshot.digest();
  job.trial = permit.trial();
  job.gpus = permit.gpus();
  job.limit_s = permit.time_limit().value();
  Random queue(spec_.seed, "queue " + job.lease);
  job.ready_s = now_ + kAnswersS - spec_.queue_s * std::log(1 - queue.uniform());
  jobs_.push_back(std::move(job));
  SP_CHECK(start_waiting());
  SP_CHECK(save());
  return jobs_.back().id;
}

Result<SimCluster::Job*> SimCluster::job(const std::string& allocation) {
  for (Job& job : jobs_) {
    if (job.id == allocation) return &job;
  }
  return Error::bad_input(fmt::format("no allocation {} on this cluster", allocation));
}

// In the order of submission, as soon as their wait is over and enough nodes are free.
Result<void> SimCluster::start_waiting() {
  std::set<std::string> taken;
  for (const Job& job : jobs_) {
    if (!job.released_s) taken.insert(job.nodes.begin(), job.nodes.end());
  }
  for (Job& job : jobs_) {
    if (!job.nodes.empty() || job.released_s || job.cancelled_s || job.ready_s > now_) continue;
    std::vector<std::pair<double, std::string>> free;
    for (const std::string& node : nodes()) {
      if (taken.contains(node)) continue;
      free.emplace_back(Random(spec_.seed, job.lease + " on " + node).uniform(), node);
    }
    const int per_node = spec_.machine.system.node.gpus;
    const auto wanted = static_cast<std::size_t>((job.gpus + per_node - 1) / per_node);
    if (free.size() < wanted) return {};
    std::sort(free.begin(), free.end());
    std::vector<std::string> mine;
    for (std::size_t i = 0; i < wanted; ++i) mine.push_back(free[i].second);
    taken.insert(mine.begin(), mine.end());
    SP_CHECK(start(job, std::move(mine)));
  }
  return {};
}

double SimCluster::node_start(const Job& job, std::size_t node) const {
  if (spec_.stagger_s <= 0 || node == 0) return job.ready_s;
  Random chance(spec_.seed, fmt::format("stagger {} {}", job.lease, node));
  return job.ready_s + spec_.stagger_s * chance.uniform();
}

Result<void> SimCluster::start(Job& job, std::vector<std::string> nodes) {
  job.nodes = std::move(nodes);
  job.ready_s = std::max(job.ready_s, std::floor(now_));
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    job.start_s = std::max(job.start_s, node_start(job, i));
  }
  SP_TRY(const RunPlan plan, this->plan(job));
  job.end_s = job.start_s + plan.end_s;
  job.outcome = plan.outcome;
  job.exit_code = plan.exit_code;
  job.cause = plan.cause;
  return {};
}

Result<RunPlan> SimCluster::plan(const Job& job) const {
  SP_TRY(const recipe::Snapshot snapshot, recipe::Snapshot::load(snapshots_, job.snapshot));
  const RunInput input{snapshot.effective(),
                       job.snapshot,
                       job.lease,
                       job.nodes,
                       job.gpus,
                       job.ready_s + job.limit_s - job.start_s};
  return plan_run(spec_, input);
}

Life SimCluster::life(const Job& job) const {
  if (job.released_s) return Life::released;
  if (job.cancelled_s) return Life::ended;
  if (job.nodes.empty() || now_ < job.ready_s) return Life::queued;
  return now_ < job.end_s ? Life::running : Life::ended;
}

judge::Allocation SimCluster::held(const Job& job) const {
  judge::Allocation out;
  out.id = job.id;
  if (job.nodes.empty() || (now_ < job.ready_s && !job.cancelled_s)) return out;
  const int per_node = spec_.machine.system.node.gpus;
  std::int64_t left = job.gpus;
  for (std::size_t i = 0; i < job.nodes.size(); ++i, left -= per_node) {
    judge::Hold hold{job.nodes[i], static_cast<int>(std::min<std::int64_t>(left, per_node)),
                     Seconds(node_start(job, i)), std::nullopt};
    if (job.released_s) hold.end = Seconds(std::max(*job.released_s, hold.start.value()));
    if (hold.start.value() <= now_) out.holds.push_back(hold);
  }
  judge::Job run{job.trial, Seconds(job.start_s), std::nullopt};
  const double end = std::min(job.end_s, job.cancelled_s.value_or(job.end_s));
  if (end <= now_) run.end = Seconds(std::max(end, job.start_s));
  if (job.start_s <= now_) out.jobs.push_back(run);
  return out;
}

Result<Report> SimCluster::poll(const std::string& allocation) {
  SP_TRY(Job* const found, this->job(allocation));
  const Job& job = *found;
  Report report;
  report.held = held(job);
  report.lease = job.lease;
  report.life = life(job);
  report.now = now();
  const bool over = report.life == Life::ended || report.life == Life::released;
  if (over && (!job.nodes.empty() || job.cancelled_s)) {
    report.outcome = job.outcome;
    report.exit_code = job.exit_code;
    report.cause = job.cause;
  }
  if (!job.nodes.empty() && report.life != Life::queued) {
    SP_TRY(report.files, write_files(job));
  }
  return report;
}

Result<std::map<std::string, std::filesystem::path>> SimCluster::write_files(const Job& job) const {
  SP_TRY(const recipe::Snapshot snapshot, recipe::Snapshot::load(snapshots_, job.snapshot));
  SP_TRY(const RunPlan plan, this->plan(job));
  const RunInput input{snapshot.effective(), job.snapshot, job.lease, job.nodes, job.gpus,
                       job.limit_s};
  const double until = std::min(now_, job.cancelled_s.value_or(now_));
  const auto folder = folder_ / "runs" / job.id;
  std::map<std::string, std::filesystem::path> out;
  for (const auto& [name, text] : run_files(spec_, input, plan, job.start_s, until - job.start_s)) {
    const auto path = folder / name;
    std::error_code ec;
    std::filesystem::create_directories(path.parent_path(), ec);
    SP_CHECK(base::write_file_atomically(path, text));
    if (name == "train.log") out["log"] = path;
    if (name == "signals.jsonl") out["signals"] = path;
    if (name == "trace.json") out["trace"] = path;
    if (name.starts_with("values/")) out["values"] = folder / "values";
  }
  return out;
}

Result<void> SimCluster::cancel(const std::string& allocation) {
  SP_TRY(Job* const job, this->job(allocation));
  if (life(*job) == Life::ended || life(*job) == Life::released) return {};
  constexpr int kKilled = 137;
  job->cancelled_s = now_;
  job->outcome = job->nodes.empty() || now_ < job->ready_s ? "never_started" : "failed";
  job->exit_code = kKilled;
  job->cause = "cancelled";
  if (job->outcome == "never_started") job->nodes.clear();
  return save();
}

Result<void> SimCluster::release(const std::string& allocation) {
  SP_TRY(Job* const job, this->job(allocation));
  if (job->released_s) return {};
  SP_CHECK(cancel(allocation));
  now_ += kAnswersS;
  job->released_s = now_;
  SP_CHECK(start_waiting());
  return save();
}

// The next moment at which poll says something else.
double SimCluster::next_change(const Job& job) const {
  if (job.released_s || job.cancelled_s) return now_;
  if (job.nodes.empty()) return std::max(job.ready_s, now_);
  if (now_ < job.start_s) return job.start_s;
  if (now_ >= job.end_s) return now_;
  const auto begun = plan(job);
  const double first = job.start_s + (begun.ok() ? begun.value().startup_s : 0);
  return now_ < first ? std::min(first, job.end_s) : job.end_s;
}

Result<void> SimCluster::wait(const std::string& allocation, Seconds most) {
  SP_TRY(Job* const job, this->job(allocation));
  now_ = std::min(now_ + std::max(0.0, most.value()), std::max(now_, next_change(*job)));
  SP_CHECK(start_waiting());
  return save();
}

}  // namespace setpoint::cluster
