// SPDX-License-Identifier: Apache-2.0
#include "generate/targets/processes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace setpoint::generate {
namespace {

// First ports to try; the engines' own defaults where they have one.
constexpr std::int64_t kBootstrapPort = 8998;  // SGLang
constexpr std::int64_t kHeadPort = 29500;      // torch.distributed's
constexpr std::int64_t kRpcPort = 29550;       // vLLM data parallel

// A worker with its ports.
struct Seat {
  const PlacedWorker* worker = nullptr;
  const RoleSettings* role = nullptr;
  Word address;
  Place place;
};

// The first of `count` free ports in a row on the node, from `first` on.
std::int64_t take_span(PortBook& book, std::int64_t node, std::int64_t first, std::int64_t count,
                       const std::string& owner) {
  const auto taken = [&](std::int64_t port) { return book.taken().contains({node, port}); };
  for (std::int64_t i = 0; i < count;) {
    if (taken(first + i)) {
      first += i + 1;
      i = 0;
    } else {
      ++i;
    }
  }
  for (std::int64_t i = 0; i < count; ++i) book.take(node, first + i, owner);
  return first;
}

Seat seat(const Plan& plan, const Naming& naming, const PlacedWorker& worker, PortBook& book) {
  Seat out{&worker, &plan.settings.roles[worker.role], {}, {}};
  const std::int64_t node = worker.parts.front().node;
  Place& place = out.place;
  out.address = naming.address(worker, worker.parts.front());
  place.slurm = naming.slurm;
  place.own_address = place.head_address = out.address;
  place.http_port = book.take(node, plan.options.port, worker.name);
  if (out.role->role == Role::prefill) {
    place.bootstrap_port = book.take(node, kBootstrapPort, worker.name);
  }
  const PortSpans spans = port_spans(plan.settings, *out.role);
  if (spans.head > 0) place.head_port = take_span(book, node, kHeadPort, spans.head, worker.name);
  if (worker.parts.size() > 1) place.rpc_port = book.take(node, kRpcPort, worker.name);
  return out;
}

std::string kind(const Seat& seat) {
  return seat.worker->name.substr(0, seat.worker->name.rfind('-'));
}

Result<Process> process(const Plan& plan, const Naming& naming, const Seat& seat,
                        std::size_t rank) {
  const NodePart& part = seat.worker->parts[rank];
  Process out{.name = seat.worker->name,
              .worker = seat.worker->name,
              .node = part.node,
              .rank = static_cast<std::int64_t>(rank),
              .ranks = static_cast<std::int64_t>(seat.worker->parts.size()),
              .devices = part.devices,
              .address = seat.address,
              .port = seat.place.http_port,
              .config_path = naming.config_folder + kind(seat) + ".yaml",
              .command = {}};
  if (out.ranks > 1) out.name += fmt::format("-rank-{}", rank);
  Place place = seat.place;
  place.own_address = naming.address(*seat.worker, part);
  place.first_node = rank == 0;
  place.node_rank = naming.rank ? *naming.rank : Word{std::to_string(rank)};
  place.config_path = out.config_path;
  SP_TRY(out.command, worker_command(plan.settings, *seat.role, plan.flags, place));
  return out;
}

Result<std::optional<Process>> router(const Plan& plan, const Naming& naming,
                                      const std::vector<Seat>& workers) {
  std::vector<PoolMember> members;
  for (const Seat& seat : workers) {
    members.push_back(
        {seat.role->role, seat.address, seat.place.http_port, seat.place.bootstrap_port});
  }
  Place place;
  place.http_port = plan.options.port;
  place.config_path = naming.router_config;
  SP_TRY(auto command, router_command(plan.settings, plan.flags, members, place));
  if (!command) return std::optional<Process>();
  return std::optional<Process>({.name = "router",
                                 .worker = {},
                                 .devices = {},
                                 .address = {"127.0.0.1"},
                                 .port = place.http_port,
                                 .config_path = naming.router_config,
                                 .command = *std::move(command)});
}

// As the engines' own documents balance several servers: nginx, each request to the server with the
// fewest open ones. Answers are streamed, so nothing is buffered; long ones are waited for.
std::string nginx_conf(const Naming& naming, std::int64_t port, const std::vector<Seat>& workers) {
  std::string out = "worker_processes auto;\ndaemon off;\nerror_log stderr;\n";
  out += "events { worker_connections 8192; }\nhttp {\n" + naming.balancer_paths;
  out += "  access_log off;\n  client_max_body_size 0;\n  upstream workers {\n    least_conn;\n";
  for (const Seat& seat : workers) {
    out += fmt::format("    server {}:{};\n", seat.address.text, seat.place.http_port);
  }
  out += fmt::format("  }}\n  server {{\n    listen {};\n    location / {{\n", port);
  out += "      proxy_pass http://workers;\n      proxy_http_version 1.1;\n";
  out += "      proxy_set_header Connection \"\";\n      proxy_buffering off;\n";
  return out + "      proxy_read_timeout 1h;\n    }\n  }\n}\n";
}

void note(std::vector<std::string>& notes, const std::string& text) {
  if (text.empty() || std::find(notes.begin(), notes.end(), text) != notes.end()) return;
  notes.push_back(text);
}

std::vector<std::string> notes(const Plan& plan, const Processes& all) {
  std::vector<std::string> out;
  note(out, plan.flags.note());
  for (const std::string& text : plan.settings.warnings) note(out, text);
  for (const Process& process : all.workers) {
    for (const std::string& text : process.command.notes) note(out, text);
  }
  if (all.router) {
    for (const std::string& text : all.router->command.notes) note(out, text);
  }
  return out;
}

std::string summary(const RoleSettings& role) {
  return fmt::format("{} ({}) of {} on {}: tp {}, pp {}, dp {}, {} at once in each rank",
                     base::count_of(role.workers, "worker"),
                     kRoleNames[static_cast<std::size_t>(role.role)],
                     base::count_of(role.gpus, "GPU"), role.system, role.shard.tp, role.shard.pp,
                     role.shard.dp, base::count_of(role.max_requests, "request"));
}

std::string prediction(const Estimate& estimate) {
  const Performance& p = estimate.performance;
  return fmt::format(
      "Predicted: first token {:.1f} ms, {:.2f} ms a token after it, {:.1f} tokens/s per GPU with "
      "{:.0f} requests in flight",
      p.ttft.value(), p.tpot.value(), estimate.tokens_per_s_per_gpu(),
      p.concurrency * static_cast<double>(estimate.replicas));
}

std::string comment(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text.empty() ? "#\n" : "# " + text + "\n";
}

}  // namespace

Result<Processes> processes(const Plan& plan, const Naming& naming) {
  Processes out;
  out.port = plan.options.port;
  PortBook book;
  const bool front = plan.placement.workers.size() > 1;
  if (front) book.take(0, out.port, "router");
  std::vector<Seat> workers;
  for (const PlacedWorker& worker : plan.placement.workers) {
    workers.push_back(seat(plan, naming, worker, book));
  }
  if (front) {
    SP_TRY(out.router, router(plan, naming, workers));
    if (!out.router && plan.settings.mode == Mode::disagg) {
      return Error{ErrorCode::no,
                   fmt::format("{}: {} has no router of its own that joins prefill and decode "
                               "workers; targets that bring one: dynamo, llm-d",
                               kTargetNames[static_cast<std::size_t>(plan.options.target)],
                               plan.settings.framework)};
    }
    if (!out.router) out.balancer = nginx_conf(naming, out.port, workers);
  }
  for (const Seat& seat : workers) {
    for (std::size_t rank = 0; rank < seat.worker->parts.size(); ++rank) {
      SP_TRY(Process made, process(plan, naming, seat, rank));
      out.workers.push_back(std::move(made));
    }
  }
  out.notes = notes(plan, out);
  return out;
}

Files config_files(const Processes& all) {
  Files out;
  const auto add = [&](const Process& process) {
    if (!process.command.config_yaml || process.command.config_expands) return;
    File file{process.config_path.substr(process.config_path.rfind('/') + 1),
              *process.command.config_yaml, false};
    if (std::find(out.begin(), out.end(), file) == out.end()) out.push_back(std::move(file));
  };
  for (const Process& process : all.workers) add(process);
  if (all.router) add(*all.router);
  return out;
}

std::string heading(const Plan& plan, const Processes& all, std::vector<std::string> more) {
  const Settings& s = plan.settings;
  std::string out = comment(fmt::format("{} on {} {}, {}", s.model, s.framework, s.engine_version,
                                        kModeNames[static_cast<std::size_t>(s.mode)]));
  for (const RoleSettings& role : s.roles) out += comment("  " + summary(role));
  if (plan.deployment != nullptr) out += comment(prediction(plan.deployment->estimate));
  for (const std::string& line : more) out += comment(line);
  for (const std::string& text : all.notes) out += comment("Note: " + text);
  return out;
}

}  // namespace setpoint::generate
