// SPDX-License-Identifier: Apache-2.0
#include "cluster/local_cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "base/sha256.h"

namespace setpoint::cluster {
namespace {

namespace fs = std::filesystem;

// Of one run, all in its folder: lease.json what was asked (written last, so that a folder without
// it is no run), group the supervisor's process group and start, exit its status, released.
//
// The supervisor takes the run by making the folder `started`, so that a second one, started by a
// client that died before it knew of the first, leaves at once. At the limit it ends its whole
// group.
constexpr const char* kSupervisor =
    "mkdir started 2>/dev/null || exit 0\n"
    "echo \"$$ $(date +%s.%N)\" > group.new && mv group.new group\n"
    "limit=$1; shift\n"
    "( sleep \"$limit\"; echo \"timeout $(date +%s.%N)\" > exit.new; mv exit.new exit; kill -KILL "
    "0 ) "
    ">/dev/null 2>&1 &\n"
    "\"$@\" >> train.log 2>&1\n"
    "code=$?\n"
    "echo \"$code $(date +%s.%N)\" > exit.new && mv exit.new exit\n"
    "kill -KILL 0\n";

constexpr auto kLook = std::chrono::milliseconds(20);

double clock_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// "WORD SECONDS", as the supervisor writes; nothing while the file is not there.
std::optional<std::pair<std::string, double>> mark(const fs::path& file) {
  const auto text = base::read_file(file, 4096);
  if (!text.ok()) return std::nullopt;
  const std::size_t space = text.value().find(' ');
  if (space == std::string::npos) return std::nullopt;
  return std::pair{text.value().substr(0, space),
                   std::strtod(text.value().c_str() + space, nullptr)};
}

Result<void> put(const fs::path& file, const std::string& word) {
  return base::write_file_atomically(file, fmt::format("{} {:.9f}\n", word, clock_now()));
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

void outcome_of(const std::string& status, Report& report) {
  constexpr int kKilled = 137;
  if (status == "timeout" || status == "cancelled") {
    report.outcome = status == "timeout" ? "timeout" : "failed";
    report.exit_code = kKilled;
    report.cause = status == "timeout" ? "killed at its time limit" : "cancelled";
    return;
  }
  report.exit_code = std::atoi(status.c_str());
  report.outcome = *report.exit_code == 0 ? "done" : "failed";
}

}  // namespace

Result<std::unique_ptr<LocalCluster>> LocalCluster::open(fs::path folder, fs::path snapshots,
                                                         int gpus) {
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) return Error::environment(fmt::format("{}: {}", folder.string(), ec.message()));
  return std::unique_ptr<LocalCluster>(
      new LocalCluster(fs::absolute(folder), fs::absolute(snapshots), gpus));
}

Seconds LocalCluster::now() const { return Seconds(clock_now()); }
std::vector<std::string> LocalCluster::nodes() const { return {host_name()}; }

// The allocation is a function of the lease, so that asking twice cannot start twice.
std::optional<std::string> LocalCluster::find(const std::string& lease) const {
  const std::string id = "local-" + base::sha256_hex(lease).substr(0, 16);
  std::error_code ec;
  if (!fs::exists(run(id) / "lease.json", ec)) return std::nullopt;
  return id;
}

Result<void> LocalCluster::prepare(const judge::Permit& permit, const fs::path& run) const {
  SP_TRY(const recipe::Snapshot snapshot, recipe::Snapshot::load(snapshots_, permit.snapshot()));
  const auto& parameters = snapshot.effective().parameters;
  const auto command = parameters.find("command");
  if (command == parameters.end() || !command->second.is_array() || command->second.empty()) {
    return Error::bad_input("recipe: settings.command: expected a list of words to run");
  }
  for (const base::Json& word : command->second) {
    if (!word.is_string()) return Error::bad_input("recipe: settings.command: expected texts");
  }
  std::error_code ec;
  for (const auto& [name, content] : snapshot.files()) {
    const fs::path relative = fs::path(name).lexically_normal();
    if (relative.is_absolute() || *relative.begin() == "..") {
      return Error::bad_input(fmt::format("snapshot: file {} lies outside the run", name));
    }
    fs::create_directories((run / relative).parent_path(), ec);
    SP_CHECK(base::write_file_atomically(run / relative, content));
  }
  fs::create_directories(run / "values", ec);
  const recipe::FinalValues& values = snapshot.effective();
  const base::Json stated{{"framework", values.framework},
                          {"version", values.version},
                          {"parameters", values.parameters},
                          {"environment", values.environment}};
  SP_CHECK(base::write_file_atomically(run / "values" / "rank0.json", base::json_text(stated, 1)));
  const base::Json lease{{"lease", permit.lease()},    {"trial", permit.trial()},
                         {"gpus", permit.gpus()},      {"limit_s", permit.time_limit().value()},
                         {"command", command->second}, {"environment", values.environment}};
  return base::write_file_atomically(run / "lease.json", base::json_text(lease, 1));
}

Result<void> LocalCluster::start(const fs::path& run) const {
  SP_TRY(const std::string text, base::read_file(run / "lease.json"));
  SP_TRY(const base::Json lease, base::parse_json(text, "lease.json"));
  base::Start start;
  start.arguments = {"/bin/sh", "-c", kSupervisor, "run",
                     fmt::format("{:.3f}", lease["limit_s"].get<double>())};
  for (const base::Json& word : lease["command"]) start.arguments.push_back(word);
  start.environment = lease["environment"].get<std::map<std::string, std::string>>();
  const char* path = std::getenv("PATH");
  start.environment.emplace("PATH", path != nullptr ? path : "/usr/bin:/bin");
  start.folder = run;
  start.output = run / "supervisor.log";
  SP_TRY(const int group, base::start_group(start));
  (void)group;
  return {};
}

Result<std::string> LocalCluster::submit(const judge::Permit& permit) {
  const std::string id = "local-" + base::sha256_hex(permit.lease()).substr(0, 16);
  if (permit.gpus() > gpus_) {
    return Error::bad_input(
        fmt::format("{} GPUs asked for, this machine is given {}", permit.gpus(), gpus_));
  }
  std::error_code ec;
  fs::create_directories(run(id), ec);
  if (!fs::exists(run(id) / "lease.json", ec)) SP_CHECK(prepare(permit, run(id)));
  if (!fs::exists(run(id) / "started", ec)) SP_CHECK(start(run(id)));
  return id;
}

Result<Report> LocalCluster::poll(const std::string& allocation) {
  const fs::path at = run(allocation);
  const auto text = base::read_file(at / "lease.json");
  if (!text.ok()) return Error::bad_input(fmt::format("no allocation {} here", allocation));
  SP_TRY(const base::Json lease, base::parse_json(text.value(), "lease.json"));
  Report report;
  report.lease = lease.value("lease", "");
  report.now = now();
  report.held.id = allocation;
  report.files["log"] = at / "train.log";
  report.files["values"] = at / "values";
  for (const char* written : {"signals", "trace"}) {
    const fs::path file = at / (std::string(written) + (*written == 's' ? ".jsonl" : ".json"));
    std::error_code ec;
    if (fs::exists(file, ec)) report.files[written] = file;
  }
  const auto group = mark(at / "group");
  if (!group) return report;
  // Asked before the status is read: a group that dies in between has written it by then.
  const bool alive = base::group_alive(std::atoi(group->first.c_str()));
  const auto ended = mark(at / "exit");
  const auto released = mark(at / "released");
  judge::Hold hold{host_name(), lease.value("gpus", 0), Seconds(group->second), std::nullopt};
  judge::Job job{lease.value("trial", ""), Seconds(group->second), std::nullopt};
  report.life = ended || !alive ? Life::ended : Life::running;
  if (ended) {
    job.end = Seconds(ended->second);
    outcome_of(ended->first, report);
  } else if (!alive) {  // somebody killed the supervisor too
    report.outcome = "lost";
    report.cause = "its processes are gone without a status";
  }
  if (released) {
    hold.end = Seconds(released->second);
    report.life = Life::released;
  }
  report.held.holds = {hold};
  report.held.jobs = {job};
  return report;
}

Result<void> LocalCluster::cancel(const std::string& allocation) {
  SP_TRY(const Report report, poll(allocation));
  if (report.life == Life::ended || report.life == Life::released) return {};
  const fs::path at = run(allocation);
  std::error_code ec;
  // Whoever makes this folder first decides whether it ever starts.
  if (fs::create_directory(at / "started", ec)) {
    SP_CHECK(put(at / "group", "0"));
  } else {
    constexpr int kLooks = 200;  // a supervisor that has the folder names its group at once
    for (int i = 0; i < kLooks && !mark(at / "group"); ++i) std::this_thread::sleep_for(kLook);
    if (const auto group = mark(at / "group")) base::kill_group(std::atoi(group->first.c_str()));
  }
  if (!mark(at / "exit")) return put(at / "exit", "cancelled");
  return {};
}

Result<void> LocalCluster::release(const std::string& allocation) {
  SP_CHECK(cancel(allocation));
  if (mark(run(allocation) / "released")) return {};
  return put(run(allocation) / "released", "released");
}

Result<void> LocalCluster::wait(const std::string& allocation, Seconds most) {
  const double until = clock_now() + most.value();
  SP_TRY(const Report before, poll(allocation));
  while (clock_now() < until) {
    SP_TRY(const Report report, poll(allocation));
    if (report.life != before.life || report.life == Life::ended || report.life == Life::released) {
      return {};
    }
    std::this_thread::sleep_for(kLook);
  }
  return {};
}

}  // namespace setpoint::cluster
