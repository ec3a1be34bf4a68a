// SPDX-License-Identifier: Apache-2.0
// The simulated cluster's state as its file, cluster.json.
#include <fmt/format.h>

#include "base/file.h"
#include "cluster/sim_cluster.h"

namespace setpoint::cluster {
namespace {

constexpr double kMostS = 1e12;
constexpr double kFirstSecond = 1.8e9;  // the simulated clock starts in 2027

Result<std::optional<double>> moment(const base::JsonView& json, const char* key) {
  const auto at = json.find(key);
  if (!at) return std::optional<double>{};
  SP_TRY(const double value, at->number(0, kMostS));
  return std::optional<double>{value};
}

Result<std::string> text(const base::JsonView& json, const char* key) {
  SP_TRY(const base::JsonView at, json.at(key));
  return at.string();
}

}  // namespace

Result<void> SimCluster::save() const {
  base::Json jobs = base::Json::array();
  for (const Job& job : jobs_) {
    base::Json out{{"id", job.id},           {"lease", job.lease},     {"snapshot", job.snapshot},
                   {"trial", job.trial},     {"gpus", job.gpus},       {"limit_s", job.limit_s},
                   {"ready_s", job.ready_s}, {"nodes", job.nodes},     {"start_s", job.start_s},
                   {"end_s", job.end_s},     {"outcome", job.outcome}, {"cause", job.cause}};
    if (job.cancelled_s) out["cancelled_s"] = *job.cancelled_s;
    if (job.released_s) out["released_s"] = *job.released_s;
    if (job.exit_code) out["exit"] = *job.exit_code;
    jobs.push_back(std::move(out));
  }
  const base::Json state{{"schema", "setpoint-sim-cluster/1"}, {"now_s", now_}, {"jobs", jobs}};
  return base::write_file_atomically(folder_ / "cluster.json", base::json_text(state, 1) + "\n");
}

Result<void> SimCluster::load() {
  const auto path = folder_ / "cluster.json";
  std::error_code ec;
  now_ = kFirstSecond;
  if (!std::filesystem::exists(path, ec)) return save();
  SP_TRY(const std::string content, base::read_file(path));
  SP_TRY(const base::Json json, base::parse_json(content, path.string()));
  const base::JsonView state(json, path.string());
  SP_TRY(const base::JsonView now, state.at("now_s"));
  SP_TRY(now_, now.number(0, kMostS));
  SP_TRY(const base::JsonView jobs, state.at("jobs"));
  SP_TRY(const auto items, jobs.items());
  for (const base::JsonView& item : items) {
    Job job;
    SP_TRY(job.id, text(item, "id"));
    SP_TRY(job.lease, text(item, "lease"));
    SP_TRY(job.snapshot, text(item, "snapshot"));
    SP_TRY(job.trial, text(item, "trial"));
    SP_TRY(job.outcome, text(item, "outcome"));
    SP_TRY(job.cause, text(item, "cause"));
    SP_TRY(const base::JsonView gpus, item.at("gpus"));
    SP_TRY(job.gpus, gpus.integer(0, 1 << 30));
    for (const auto& [key, to] : {std::pair{"limit_s", &Job::limit_s},
                                  {"ready_s", &Job::ready_s},
                                  {"start_s", &Job::start_s},
                                  {"end_s", &Job::end_s}}) {
      SP_TRY(const base::JsonView at, item.at(key));
      SP_TRY(job.*to, at.number(0, kMostS));
    }
    SP_TRY(const base::JsonView nodes, item.at("nodes"));
    SP_TRY(const auto names, nodes.items());
    for (const base::JsonView& name : names) {
      SP_TRY(std::string node, name.string());
      job.nodes.push_back(std::move(node));
    }
    SP_TRY(job.cancelled_s, moment(item, "cancelled_s"));
    SP_TRY(job.released_s, moment(item, "released_s"));
    if (const auto code = item.find("exit")) {
      SP_TRY(const std::int64_t value, code->integer(-1000, 1000));
      job.exit_code = static_cast<int>(value);
    }
    jobs_.push_back(std::move(job));
  }
  return {};
}

}  // namespace setpoint::cluster
